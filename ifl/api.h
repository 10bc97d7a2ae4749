// Internals that the C functions of pbs_ifl.h share.
#pragma once

// only the declarations of pbs_ifl.h are visible outside the shared object
#pragma GCC visibility push(default)
#include "ifl/pbs_ifl.h"
#pragma GCC visibility pop

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ifl/connection.h"
#include "ifl/pbs_error.h"

namespace pbs::ifl::api {

/// State of one thread, as IFL clients expect: pbs_errno, pbs_server and the texts of pbs_geterrmsg().
struct ThreadState {
    struct Text {
        std::weak_ptr<Connection> connection;  // distinguishes the connection from a later one with the same
                                               // number
        std::string text;
    };
    int error = 0;
    char server[PBS_MAXSERVERNAME + 1] = {};
    char default_server[PBS_MAXSERVERNAME + 1] = {};
    std::string connect_text;  // the reason why the last pbs_connect() failed
    std::unordered_map<int, Text> texts;
};
ThreadState& thread_state();

/// These functions keep the open connections by the numbers that clients use: the descriptors of their
/// sockets.
void add_connection(const std::shared_ptr<Connection>& connection);
/// The connection of a number; nullptr: there is none.
std::shared_ptr<Connection> find_connection(int number);
void remove_connection(int number);

/// Sets pbs_errno, and the text of connection `number` for pbs_geterrmsg(); returns the code.
int set_error(int number, const Error& error);
/// Refuses a call without an argument that it needs: PBSE_IVALREQ, and a text that says that `what` is
/// expected.
int refuse_missing(int number, const char* what) noexcept;
/// Returns whether a location isn't longer than servers accept. If it is, sets the error PBSE_IVALREQ.
bool is_short_enough(int number, std::string_view location);
int set_result(int number, const std::shared_ptr<Connection>& connection, const Reply& reply);

/// Makes one request. Sets pbs_errno and the text of pbs_geterrmsg(). nullopt: there is no reply; a reply's
/// code may be an error. With a `sink`, the objects of a status reply go there, and the reply has none.
std::optional<Reply> request(int number, RequestType type, RequestBody body, const char* extend,
                             const ObjectSink& sink = nullptr);
/// Makes a request whose reply is only a code; returns the reply's code, or the error's.
int request_code(int number, RequestType type, RequestBody body, const char* extend);
/// request() for a caller that holds the connection's lock.
std::optional<Reply> request_locked(int number, const std::shared_ptr<Connection>& connection,
                                    RequestType type, RequestBody body, const char* extend,
                                    const ObjectSink& sink = nullptr);

/// Runs the body of an API function. An exception ends here, with pbs_errno PBSE_SYSTEM and the result
/// `failure`.
template <class Result, class Body>
Result guarded(Result failure, Body&& body) noexcept {
    try {
        return std::forward<Body>(body)();
    } catch (...) {
        // std::bad_alloc: nothing else throws
        thread_state().error = PBSE_SYSTEM;
        return failure;
    }
}

inline std::string_view view(const char* text) {
    return text ? text : "";
}
inline bool is_empty(const char* text) {
    return !text || !*text;
}

/// Copies a client's list. nullopt: an attribute has no name, and PBSE_BADATLST is set.
std::optional<Attributes> to_attributes(int number, const attropl* list);
std::optional<Attributes> to_attributes(int number, const attrl* list);

/// Returns a copy of the text for C clients, from malloc(); throws std::bad_alloc.
char* c_string(std::string_view text);

/// c_object() makes an object for C clients in `memory`: the object, its attributes and their texts. The
/// memory must have c_size() bytes and be aligned as by malloc().
std::size_t c_size(const ObjectView& object);
batch_status* c_object(void* memory, const ObjectView& object);

/// A status list for C clients, to be freed by pbs_statfree(): each object is one block from malloc().
class StatusList {
  public:
    /// Throws std::bad_alloc.
    void add(const ObjectView& object);
    void add(const ObjectStatus& object);
    bool empty() const { return list_ == nullptr; }
    batch_status* release() { return list_.release(); }

  private:
    struct Free {
        void operator()(batch_status* list) const { pbs_statfree(list); }
    };
    std::unique_ptr<batch_status, Free> list_;
    batch_status* last_ = nullptr;
};

}  // namespace pbs::ifl::api
