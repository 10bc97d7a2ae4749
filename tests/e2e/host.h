// Interface of the servers that class Server drives: the bundled one, or OpenPBS's.
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
    // Removes everything that it has made.
    virtual ~Host() = default;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    virtual const std::filesystem::path& home() const = 0;
    virtual const std::filesystem::path& work() const = 0;
    virtual ::testing::AssertionResult start() = 0;
    virtual ::testing::AssertionResult stop() = 0;
    virtual void kill9() = 0;
    virtual bool running() = 0;
    // Ends the server as quickly as possible: nobody needs it or its jobs any more.
    virtual void end() = 0;
    virtual Output command(const std::vector<std::string>& argv, RunOptions options) = 0;
    // Waits for the consequences of directives that were carried out.
    virtual void configured(const std::vector<std::string>& directives) = 0;
    // The server's standard output and error.
    virtual std::string output() const = 0;

    // Abilities that only one host has. A test that gets an exception here lacks a NEEDS().
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
