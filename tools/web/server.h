// Answers browsers and monitoring over HTTP.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace httplib {
class Server;
}

namespace pbs::web {

/// What is at the addresses. Called from several threads at once.
struct Pages {
    std::function<std::string()> metrics;  ///< /metrics
};

class Server {
  public:
    explicit Server(Pages pages);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Takes the address: the port, or -1 if it can't be had. With port 0 a free one is taken.
    int bind(const std::string& host, int port);
    /// Answers until stop(), which another thread calls. False: it can't go on.
    bool run();
    /// Ends run(), also one that is only about to begin.
    void stop();

  private:
    std::unique_ptr<httplib::Server> http_;
    std::atomic<bool> over_ = false;  // run()
};

}  // namespace pbs::web
