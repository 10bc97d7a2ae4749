// Makes requests to a server without waiting: Exchange sends them as the server takes them, and reads replies
// when poll(2) reports data.
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
    /// A function that gets a reply, or the reason why the connection ended without one.
    using Done = std::function<void(const Result<Reply>&)>;

    /// Takes over the socket of a connection whose user the server knows as `user`.
    Exchange(Socket socket, std::string user, const ReplyLimits& limits = {});
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    bool open() const { return socket_.fd() >= 0; }
    int fd() const { return socket_.fd(); }
    /// The number of bytes that the server has yet to take.
    std::size_t unsent() const { return out_.size(); }
    bool wants_to_send() const { return !out_.empty(); }
    /// The number of requests without a reply.
    std::size_t unanswered() const { return asked_.size(); }

    /// Makes a request that has a reply. Replies come in the order of the requests. `sink` takes the objects
    /// of a status reply, as in ReplyDecoder::next().
    void ask(RequestType type, RequestBody body, std::string extend, Done done, ObjectSink sink = {});
    /// Makes a request whose type has no reply.
    void tell(RequestType type, RequestBody body);
    /// Sends and reads without waiting, and handles replies; reads at most 1 MiB. Returns whether something
    /// was read.
    bool work();
    /// Closes the connection. Unanswered requests get `why`.
    void close(const std::string& why);
    /// The reason given to close(), or the reason why the server ended the connection; empty while it is
    /// open.
    const std::string& why_closed() const { return why_closed_; }

  private:
    struct Unanswered {
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
    std::deque<Unanswered> asked_;
};

}  // namespace pbs::ifl
