// Requests and replies on a connection that nobody waits for: what is asked is sent as the server takes it,
// and what came is taken when poll(2) says so.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "ifl/socket.h"

namespace pbs::ifl {

class Exchange {
  public:
    /// A reply, or why there will be none: the connection has ended.
    using Done = std::function<void(const Result<Reply>&)>;

    /// On a connection whose user the server knows as `user`.
    Exchange(Socket socket, std::string user, const ReplyLimits& limits = {});
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    bool open() const { return socket_.fd() >= 0; }
    int fd() const { return socket_.fd(); }
    /// How much the server has yet to take, in bytes.
    std::size_t unsent() const { return out_.size(); }
    bool wants_to_send() const { return !out_.empty(); }
    /// Requests without a reply.
    std::size_t unanswered() const { return asked_.size(); }

    /// Requests are answered in the order in which they are made. `sink` as for ReplyDecoder.
    void ask(RequestType type, RequestBody body, std::string extend, Done done, ObjectSink sink = {});
    /// A request whose type has no reply.
    void tell(RequestType type, RequestBody body);
    /// Sends and reads what can be, without waiting, up to a megabyte. True: something came.
    bool work();
    /// Requests that have no answer get none.
    void close(const std::string& why);
    /// Of one that isn't open.
    const std::string& why_closed() const { return why_closed_; }

  private:
    struct Asked {
        Done done;
        ObjectSink sink;
    };
    void send();
    bool receive();
    void take_replies();

    Socket socket_;
    std::string user_;
    std::string why_closed_;
    std::string out_;
    ReplyDecoder replies_;
    std::deque<Asked> asked_;
};

}  // namespace pbs::ifl
