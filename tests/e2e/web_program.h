// Runs pbs_web with the server of a test, and a browser that shows its pages.
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace httplib {
class Client;
}

namespace pbs::e2e {

// A running pbs_web on a free port. The destructor ends it.
class WebProgram {
  public:
    // Starts pbs_web with these arguments. If `user` is given, it runs as this user, which needs root.
    explicit WebProgram(const Server& server, std::vector<std::string> arguments = {},
                        const std::optional<User>& user = std::nullopt);
    ~WebProgram();
    WebProgram(const WebProgram&) = delete;
    WebProgram& operator=(const WebProgram&) = delete;

    // Address without a slash at the end, such as "http://127.0.0.1:1234"; "" if pbs_web didn't start.
    const std::string& address() const { return address_; }
    int port() const { return port_; }

  private:
    pid_t pid_ = -1;
    int port_ = 0;
    std::string address_;
};

// A Chromium without a window, driven by chromedriver (W3C WebDriver).
class Browser {
  public:
    // Returns why the browser can't be used on this machine, or "" if it can.
    static std::string missing();
    Browser();
    ~Browser();
    Browser(const Browser&) = delete;
    Browser& operator=(const Browser&) = delete;

    void open(const std::string& url);
    // Runs a script in the page, and returns its result.
    nlohmann::json run(const std::string& script);
    // Runs a script in the page again and again until it returns true. Returns false if it doesn't in time.
    bool wait(const std::string& script);
    // Returns the errors and warnings in the browser's console since the last call.
    std::vector<std::string> complaints();

  private:
    nlohmann::json call(const std::string& method, const std::string& path,
                        const nlohmann::json& body = nullptr);

    std::string folder_;
    pid_t pid_ = -1;
    std::unique_ptr<httplib::Client> driver_;
    std::string session_;
};

}  // namespace pbs::e2e
