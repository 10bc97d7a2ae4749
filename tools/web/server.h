// Answers browsers and monitoring over HTTP.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/web/feed.h"
#include "tools/web/host_names.h"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace pbs::web {

class Watchers;

/// Functions that make the contents of addresses. Several threads call them at once.
struct Contents {
    std::function<std::string()> metrics;  ///< /metrics
    Feed::Ask ask;                         ///< the pages
    /// Starts the comparison that the body of a request to /what-if describes.
    std::function<Answer(std::string_view)> compare{};
    /// Returns the picture for /what-if.svg; nullptr: there is none.
    std::function<std::shared_ptr<const std::string>()> plots{};
    std::string base{};                ///< beginning of all addresses: "/pbs"
    std::vector<std::string> names{};  ///< further host names that requests may have (host_names.h)
};

class Server {
  public:
    explicit Server(Contents contents);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds the address and returns the port; -1: failure. With port 0, a free port is chosen.
    int bind(const std::string& host, int port);
    /// Serves until another thread calls stop(). False: serving failed.
    bool run();
    /// Ends run(), even if run() is only about to begin.
    void stop();

  private:
    bool refuses(const httplib::Request& request, httplib::Response& answer) const;
    void get(const httplib::Request& request, httplib::Response& answer);
    void post(const httplib::Request& request, httplib::Response& answer);
    void plots(const httplib::Request& request, httplib::Response& answer) const;
    void redirect(const httplib::Request& request, httplib::Response& answer) const;

    const Contents contents_;
    std::optional<HostNames> names_;  // set by bind()
    Feed feed_;
    std::unique_ptr<Watchers> watchers_;
    std::unique_ptr<httplib::Server> http_;
    std::string start_;               // part of tags, so that they differ from those of other runs
    std::atomic<bool> over_ = false;  // whether stop() was called
};

}  // namespace pbs::web
