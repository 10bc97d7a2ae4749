#include "ifl/api.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "ifl/error_text.h"

namespace pbs::ifl::api {

namespace {

// The one thing that outlives a call: clients hold connections by number.
struct Connections {
    std::mutex mutex;
    std::unordered_map<int, std::shared_ptr<Connection>> by_number;
};

Connections& connections() {
    // Never destroyed: a thread may still use a connection while the process ends.
    static auto* const table = new Connections;
    return *table;
}

template <class T>
T* c_struct() {
    void* memory = std::calloc(1, sizeof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
}

// attrl and attropl have the same members.
template <class List>
std::optional<Attributes> copy_list(int number, const List* list) {
    Attributes attributes;
    for (; list; list = list->next) {
        if (!list->name) {
            set_error(number, {PBSE_BADATLST, "an attribute without a name in the list"});
            return std::nullopt;
        }
        attributes.push_back(
            {list->name, std::string(view(list->resource)), std::string(view(list->value)), Op::set});
        if constexpr (std::is_same_v<List, attropl>) attributes.back().op = static_cast<Op>(list->op);
    }
    return attributes;
}

struct FreeStatus {
    void operator()(batch_status* list) const { pbs_statfree(list); }
};

}  // namespace

ThreadState& thread_state() {
    thread_local ThreadState state;
    return state;
}

void add_connection(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard guard(connections().mutex);
    connections().by_number[connection->fd()] = connection;
}

std::shared_ptr<Connection> find_connection(int number) {
    const std::lock_guard guard(connections().mutex);
    const auto found = connections().by_number.find(number);
    return found == connections().by_number.end() ? nullptr : found->second;
}

void remove_connection(int number) {
    std::shared_ptr<Connection> last;  // closed after the lock is released
    const std::lock_guard guard(connections().mutex);
    const auto found = connections().by_number.find(number);
    if (found == connections().by_number.end()) return;
    last = std::move(found->second);
    connections().by_number.erase(found);
}

int set_error(int number, const Error& error) {
    ThreadState& state = thread_state();
    state.error = error.code;
    state.texts[number] = {find_connection(number), error.message};
    return error.code;
}

int set_result(int number, const std::shared_ptr<Connection>& connection, const Reply& reply) {
    ThreadState& state = thread_state();
    state.error = reply.code;
    const auto* text = std::get_if<TextReply>(&reply.body);
    state.texts[number] = {connection,
                           text ? text->text : std::string(reply.code ? error_text(reply.code) : "")};
    return reply.code;
}

std::optional<Reply> request_locked(int number, const std::shared_ptr<Connection>& connection,
                                    RequestType type, RequestBody body, const char* extend) {
    auto reply = connection->request(type, std::move(body), view(extend));
    if (!reply) {
        set_error(number, reply.error());
        return std::nullopt;
    }
    set_result(number, connection, *reply);
    return std::move(*reply);
}

std::optional<Reply> request(int number, RequestType type, RequestBody body, const char* extend) {
    const auto connection = find_connection(number);
    if (!connection) {
        set_error(number, {PBSE_IVALREQ, fmt::format("{} is no connection", number)});
        return std::nullopt;
    }
    const auto lock = connection->lock();
    return request_locked(number, connection, type, std::move(body), extend);
}

int request_code(int number, RequestType type, RequestBody body, const char* extend) {
    request(number, type, std::move(body), extend);
    return thread_state().error;
}

std::optional<Attributes> to_attributes(int number, const attropl* list) {
    return copy_list(number, list);
}
std::optional<Attributes> to_attributes(int number, const attrl* list) {
    return copy_list(number, list);
}

char* c_string(std::string_view text) {
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}

batch_status* c_status(const std::vector<ObjectStatus>& objects) {
    // Each piece is linked in before the next is allocated, so that the list can be freed at any point.
    std::unique_ptr<batch_status, FreeStatus> list;
    batch_status* last = nullptr;
    for (const ObjectStatus& object : objects) {
        auto* status = c_struct<batch_status>();
        if (last) {
            last->next = status;
        } else {
            list.reset(status);
        }
        last = status;
        status->name = c_string(object.name);
        attrl** end = &status->attribs;
        for (const Attribute& attribute : object.attributes) {
            *end = c_struct<attrl>();
            (*end)->op = static_cast<batch_op>(attribute.op);
            (*end)->name = c_string(attribute.name);
            if (!attribute.resource.empty()) (*end)->resource = c_string(attribute.resource);
            (*end)->value = c_string(attribute.value);
            end = &(*end)->next;
        }
    }
    return list.release();
}

}  // namespace pbs::ifl::api
