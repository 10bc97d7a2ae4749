// The weights of running jobs' processes (reprioritize). The plugin tells a weight once, so a weight that
// can't be set yet is kept and tried here until it is set, the job ends, or the job gets another weight.
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

    // Gives the processes of a running job the weight; keeps the weight for later if the job is being
    // started. Returns whether the processes have it now.
    bool set(const Job& job, int weight, int64_t now);
    // Tries again weights that failed at least 30 seconds ago, and the kept ones of jobs that now run, some
    // in each call. Call it each second.
    void try_again(int64_t now);

  private:
    struct Owed {
        RunId run;
        int weight = 0;
        int64_t next = 0;  // when it is tried
        bool failed = false;
    };

    void try_some(int64_t now);

    Server& server_;
    std::map<uint64_t, Owed> owed_;  // by the job's handle
    uint64_t last_ = 0;              // the handle that was looked at last
    bool said_ = false;              // the log says that weights can't be set
    bool succeeded_ = false;         // one was set since the log says so
};

}  // namespace pbs::host
