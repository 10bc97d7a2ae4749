// The shim's end of the connection to the policy service. (The shim is the plugin's code in pbs_server.bin.)
// The service is a thread of this process ("inside") or a daemon ("beside"); only the way of connecting
// differs.
#pragma once

#include <sys/un.h>

#include <chrono>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "ifl/packet.h"
#include "server_plugin/openpbs/messages.h"

namespace pbs::openpbs {

// Makes a connection. Returns the descriptor of a stream socket, which the Link then owns; or the reason for
// a failure.
using Connector = std::function<tl::expected<int, std::string>()>;

// Returns the address of the socket at a path. The error: the path is too long.
tl::expected<sockaddr_un, std::string> socket_address(const std::string& path);

// Returns a Connector to the socket of a daemon.
Connector beside(std::string socket_path);

class Link {
  public:
    using Clock = std::chrono::steady_clock;
    using Log = std::function<void(const std::string&)>;

    // `what`: the name of the service in messages.
    Link(Connector connector, std::string what, Log log);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // Returns whether there is a connection. If not, why_down() is the reason, a sentence for clients.
    bool up() const { return fd_ >= 0; }
    const std::string& why_down() const { return why_down_; }
    // Returns the time since the service sent anything. A service that works sends something every few
    // seconds.
    std::chrono::seconds silent(Clock::time_point now) const;

    // Connects if there is no connection and the last attempt was some seconds ago. Returns true if it has
    // connected.
    bool connect(Clock::time_point now);
    // Queues a message, and sends as many bytes as the service takes now.
    void send(const ToService& message);
    // Sends queued messages, waits for messages of the service, at most for `patience`, and returns those
    // that came. If the connection has ended, up() is false afterwards.
    std::vector<FromService> receive(std::chrono::milliseconds patience);
    // Closes the connection in a forked child of this process.
    void forget();

  private:
    void send_queued();
    void down(const std::string& why);

    Connector connector_;
    std::string what_;
    Log log_;
    int fd_ = -1;
    std::string why_down_;
    bool told_ = false;
    std::string queued_;
    ifl::PacketReader packets_;
    Clock::time_point next_attempt_{};
    Clock::time_point last_heard_{};
    int failures_ = 0;
};

}  // namespace pbs::openpbs
