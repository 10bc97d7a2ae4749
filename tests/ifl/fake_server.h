// A batch server for tests. It has real sockets, packets and authentication, but the test makes its answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ifl/auth.h"
#include "ifl/request.h"

namespace pbs::ifl::testing {

/// Serves clients in its own thread until it is destroyed.
class FakeServer {
  public:
    /// Returns the bytes that answer a request of an authenticated user: packets, or any bytes that a faulty
    /// server might send. If it returns no bytes for a request that has a reply, the server closes the
    /// connection. It is called in the server's thread.
    using Handler = std::function<std::string(const Request& request, std::string_view user)>;

    /// Listens on a free TCP port of 127.0.0.1 and, unless `socket` is empty, on that Unix socket.
    FakeServer(Handler handler, const std::string& socket);
    ~FakeServer();
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;

    std::uint16_t port() const { return port_; }
    /// Returns the requests that have arrived so far, including refused ones.
    std::vector<Request> requests() const;

  private:
    struct Peer {
        AuthTable::Id id = 0;
        RequestDecoder decoder;
    };
    void run();
    void accept_peer(int listener);
    // read_from() and serve() return false if the connection is to be closed.
    bool read_from(int fd, Peer& peer);
    bool serve(int fd, Peer& peer, const Request& request);
    bool send_all(int fd, std::string_view data);

    Handler handler_;
    std::string socket_;
    std::uint16_t port_ = 0;
    int tcp_ = -1;
    int unix_ = -1;
    int stop_[2] = {-1, -1};
    AuthTable auth_;
    AuthTable::Id last_id_ = 0;
    std::map<int, Peer> peers_;
    mutable std::mutex mutex_;
    std::vector<Request> requests_;
    std::thread thread_;
};

}  // namespace pbs::ifl::testing
