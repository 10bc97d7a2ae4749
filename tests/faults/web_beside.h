// A pbs_web beside a server of a test, on a port of its own that stays the same when pbs_web is started
// again.
#pragma once

#include <sys/types.h>

#include <string>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

class WebBeside {
  public:
    // Doesn't start pbs_web yet. REQUIRES: the server lives longer than this object.
    explicit WebBeside(const Server& server) : server_(server) {}
    ~WebBeside() { kill9(); }
    WebBeside(const WebBeside&) = delete;
    WebBeside& operator=(const WebBeside&) = delete;

    // Starts pbs_web and waits until it answers.
    ::testing::AssertionResult start();
    void kill9();
    bool running();

    struct Answer {
        int status = 0;  // HTTP status; 0: the connection failed
        std::string body;
    };
    Answer get(const std::string& address) const;
    // Returns what pbs_web has printed.
    std::string output() const;

  private:
    const Server& server_;
    HeldPort port_;
    pid_t pid_ = -1;
};

}  // namespace pbs::e2e
