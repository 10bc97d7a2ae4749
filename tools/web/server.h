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

/// Callbacks for the addresses' contents. Several threads call them at once.
struct Contents {
    std::function<std::string()> metrics;  ///< /metrics
    Feed::Ask ask;                         ///< the pages
    /// Starts the comparison that the body of a request to /what-if describes.
    std::function<Answer(std::string_view)> compare{};
    /// Returns the picture of /what-if.svg; nullptr: none.
    std::function<std::shared_ptr<const std::string>()> plots{};
    std::string base{};                ///< beginning of all addresses: "/pbs"
    std::vector<std::string> names{};  ///< host names to answer to, beside the usual ones (host_names.h)
};

class Server {
  public:
    explicit Server(Contents contents);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds the address and returns the port, or -1 on failure. With port 0 a free one is taken.
    int bind(const std::string& host, int port);
    /// Serves until another thread calls stop(). False: serving failed.
    bool run();
    /// Ends run(), even one that is about to begin.
    void stop();

  private:
    bool refuses(const httplib::Request& request, httplib::Response& answer) const;
    void get(const httplib::Request& request, httplib::Response& answer);
    void post(const httplib::Request& request, httplib::Response& answer);
    void plots(const httplib::Request& request, httplib::Response& answer) const;
    void redirect(const httplib::Request& request, httplib::Response& answer) const;

    const Contents contents_;
    std::optional<HostNames> names_;  // known after bind()
    Feed feed_;
    std::unique_ptr<Watchers> watchers_;
    std::unique_ptr<httplib::Server> http_;
    std::string start_;               // part of tags, so that they differ from those of other runs
    std::atomic<bool> over_ = false;  // stop() was called
};

}  // namespace pbs::web
