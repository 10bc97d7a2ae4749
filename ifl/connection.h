// Connects a client to a server, and makes its requests.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "ifl/settings.h"
#include "ifl/socket.h"

namespace pbs::ifl {

/// An authenticated connection. Threads may share it; lock() keeps a sequence of requests together.
class Connection {
  public:
    /// Connects, begins TLS if the settings ask for it, sends connect with `extend`, and proves the user by
    /// the settings' method: a MUNGE credential, or a statement from a reserved port, made by pbs_iff if this
    /// process may not use such a port. Over a Unix socket neither TLS nor a proof is needed. Errors, with a
    /// message: as connect_to(), the server's refusal, PBSE_BADCRED when there is no way to authenticate, or
    /// PBSE_NOSUP for an unknown method.
    static Result<std::shared_ptr<Connection>> open(const ServerAddress& address, const Settings& settings,
                                                    std::string_view extend);

    int fd() const { return socket_.fd(); }
    /// The socket, for callers that go on without this class. No request may be unanswered then.
    const Socket& socket() const { return socket_; }
    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

    /// Sends a request under the user's name and waits for its reply, if its type has one; otherwise returns
    /// a default Reply. The caller holds the lock. Errors: PBSE_PROTOCOL; then the connection can't be used
    /// any more, and every later request fails too. With a `sink`, the objects of a status reply go there as
    /// they arrive, and the reply has none: when the request fails halfway, the sink may have got some.
    Result<Reply> request(RequestType type, RequestBody body, std::string_view extend,
                          const ObjectSink& sink = nullptr);

    /// Sends a request whose type has a reply, without waiting for the reply: receive() takes it. Requests
    /// may be buffered for a while, to be sent together. While any of them is unanswered, request() is an
    /// error. The caller holds the lock. Errors: as request().
    Result<void> send(RequestType type, RequestBody body, std::string_view extend);
    /// Waits for the reply to the earliest unanswered request of send(). Errors: as request(); PBSE_IVALREQ
    /// when there is no such request.
    Result<Reply> receive();
    /// The number of requests of send() without a reply.
    std::size_t unanswered() const { return unanswered_; }

    /// Says whether the server has policy objects; unknown until a request has shown it.
    enum class HasPolicies : std::uint8_t { unknown, yes, no };
    std::atomic<HasPolicies> has_policies{HasPolicies::unknown};

  private:
    Connection(Socket socket, std::string user) : socket_(std::move(socket)), user_(std::move(user)) {}

    Socket socket_;
    std::string user_;
    void send_kept();
    Error broken(const Error& error);

    ReplyDecoder replies_;
    std::string kept_;            // buffered requests, to be sent together
    std::string unsendable_;      // why the server takes no more requests; its answers can still be read
    std::size_t unanswered_ = 0;  // requests of send() without a reply
    std::mutex mutex_;
    std::string broken_;  // why no more requests can be made
};

/// Begins TLS on a new connection, if the settings ask for it and it isn't a Unix socket. Errors: as
/// Socket::encrypt().
Result<void> encrypt_as_asked(Socket& socket, const ServerAddress& address, const Settings& settings);

/// The name of the user that runs this process; the number of a user without a name.
std::string current_user();

}  // namespace pbs::ifl
