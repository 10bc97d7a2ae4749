// Interface of the two servers that class Server may drive: the bundled server (own_host.cc) and OpenPBS's
// (openpbs_host.cc).
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

class Host {
  public:
    explicit Host(Server::Options options) : options_(std::move(options)) {}
    // Removes all files that the host has made.
    virtual ~Host() = default;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    virtual const std::filesystem::path& home() const = 0;
    virtual const std::filesystem::path& work() const = 0;
    virtual ::testing::AssertionResult start() = 0;
    virtual ::testing::AssertionResult stop() = 0;
    virtual void kill9() = 0;
    virtual bool running() = 0;
    // Ends the server and its running jobs as quickly as possible, at the end of the test.
    virtual void end() = 0;
    virtual Output command(const std::vector<std::string>& argv, RunOptions options) = 0;
    // Waits until these directives, which qmgr has carried out, have taken effect.
    virtual void configured(const std::vector<std::string>& directives) = 0;
    // The server's standard output and error.
    virtual std::string output() const = 0;

    // Abilities that only one of the hosts has. The other host throws, so a test that uses them has to begin
    // with NEEDS().
    virtual int port() const { throw missing("a port"); }
    virtual pid_t pid() const { throw missing("a process id"); }
    virtual Output start_refused() { throw missing("a start that is refused"); }
    virtual void set_clock(int64_t /*now*/) { throw missing("a clock that is set"); }

  protected:
    static std::logic_error missing(const std::string& what) {
        return std::logic_error("the test doesn't say that it needs " + what);
    }
    const Server::Options options_;
};

std::unique_ptr<Host> own_host(Server::Options options);
std::unique_ptr<Host> openpbs_host(Server::Options options);

}  // namespace pbs::e2e
