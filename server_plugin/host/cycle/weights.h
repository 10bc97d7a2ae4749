// The weights of running jobs' processes (reprioritize). The plugin tells a weight once, so what fails is
// tried again here, until it succeeds, the job ends, or it gets another weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "server_plugin/host/change/server.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

class Weights {
  public:
    explicit Weights(Server& server) : server_(server) {}

    // Gives the processes of a running job the weight. Returns whether that has succeeded.
    bool set(const Job& job, int weight, int64_t now);
    // Tries again those that failed at least 30 seconds ago, some in each call. Call it each second.
    void try_again(int64_t now);

  private:
    struct Failed {
        RunId run;
        int weight = 0;
        int64_t next = 0;  // when it is tried again
    };

    void say_works();

    Server& server_;
    std::map<uint64_t, Failed> failed_;  // by the job's handle
    uint64_t last_ = 0;                  // the handle that was tried last
    bool said_ = false;                  // the log says that weights can't be set
};

}  // namespace pbs::host
