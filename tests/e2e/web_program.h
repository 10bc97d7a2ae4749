// Runs pbs_web beside a test's server, and a browser that looks at it.
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

// A running pbs_web on a free port; ended with the object.
class WebProgram {
  public:
    // Starts pbs_web as `user`, if given; needs root.
    explicit WebProgram(const Server& server, std::vector<std::string> arguments = {},
                        const std::optional<User>& user = std::nullopt);
    ~WebProgram();
    WebProgram(const WebProgram&) = delete;
    WebProgram& operator=(const WebProgram&) = delete;

    // Address without a slash at the end: "http://127.0.0.1:1234". Empty: pbs_web didn't start.
    const std::string& address() const { return address_; }
    int port() const { return port_; }

  private:
    pid_t pid_ = -1;
    int port_ = 0;
    std::string address_;
};

// Chromium without a window, driven over chromedriver's protocol (W3C WebDriver).
class Browser {
  public:
    // Says why there is no browser on this machine; empty: there is one.
    static std::string missing();
    Browser();
    ~Browser();
    Browser(const Browser&) = delete;
    Browser& operator=(const Browser&) = delete;

    void open(const std::string& url);
    // Runs a script and returns its result.
    nlohmann::json run(const std::string& script);
    // Waits until a script returns true.
    bool wait(const std::string& script);
    // Returns errors and warnings that were written to the console since the last call.
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
