// A client's connection to a server.
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
    /// Connects and, over TCP, begins TLS if the settings say so, and authenticates: sends connect with
    /// `extend`, then identifies the user by the settings' method. That is a credential of MUNGE, or the word
    /// of root from a reserved port: this process's, or pbs_iff's of the settings' prefix when this process
    /// may not use one. Errors: as connect_to(), the server's refusal, PBSE_BADCRED when there is no way to
    /// authenticate, or PBSE_NOSUP for a method that isn't known; with a message.
    static Result<std::shared_ptr<Connection>> open(const ServerAddress& address, const Settings& settings,
                                                    std::string_view extend);

    int fd() const { return socket_.fd(); }
    /// For who goes on without this class: nothing is unanswered then.
    const Socket& socket() const { return socket_; }
    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

    /// Sends a request under the user's name and waits for its reply, if its type has one; a default Reply
    /// otherwise. The caller holds the lock. Errors: PBSE_PROTOCOL; the connection is of no use then, and
    /// every later request fails likewise.
    /// With a `sink`, objects of a status reply go there as they arrive, and the reply has none: when the
    /// request then fails on the way, some may have gone there.
    Result<Reply> request(RequestType type, RequestBody body, std::string_view extend,
                          const ObjectSink& sink = nullptr);

    /// Sends a request whose type has a reply without waiting for that: receive() takes it. Requests may be
    /// kept back for a while, to be sent together. While any of them is unanswered, request() is an error.
    /// The caller holds the lock. Errors: as request().
    Result<void> send(RequestType type, RequestBody body, std::string_view extend);
    /// Waits for the reply to the earliest request of send() that has none yet. Errors: as request(); and
    /// PBSE_IVALREQ when there is no such request.
    Result<Reply> receive();
    /// Requests of send() that have no reply yet.
    std::size_t unanswered() const { return unanswered_; }

    /// Has the server policy objects? Whoever finds out keeps the answer here.
    enum class HasPolicies : std::uint8_t { unknown, yes, no };
    std::atomic<HasPolicies> has_policies{HasPolicies::unknown};

  private:
    Connection(Socket socket, std::string user) : socket_(std::move(socket)), user_(std::move(user)) {}

    Socket socket_;
    std::string user_;
    void send_kept();
    Error broken(const Error& error);

    ReplyDecoder replies_;
    std::string kept_;            // requests to be sent together
    std::string unsendable_;      // why the server takes no more of them; what it answered can be read still
    std::size_t unanswered_ = 0;  // those of send()
    std::mutex mutex_;
    std::string broken_;  // why no more requests can be made
};

/// Begins TLS on a connection that has just been made, if the settings say so and it isn't a Unix socket.
/// Errors: as Socket::encrypt().
Result<void> encrypt_as_asked(Socket& socket, const ServerAddress& address, const Settings& settings);

/// Name of the user that runs this process; its number when it has none.
std::string current_user();

}  // namespace pbs::ifl
