// Measures how much running jobs have used so far. Users see that as resources_used, and fair shares count
// it. It isn't stored: after a restart the runner measures it again.
#pragma once

#include <cstdint>

#include "server_plugin/host/change/server.h"

namespace pbs::host {

class RunningUsage {
  public:
    // REQUIRES: the server outlives this object.
    explicit RunningUsage(Server& server) : server_(server) {}

    // Reads the usage of the next few running jobs. Call it at each tick of the loop: all jobs are read
    // within kTicks ticks or, if there are very many, at kMostAtOnce jobs a tick.
    void look();

    static constexpr std::size_t kTicks = 20;
    static constexpr std::size_t kMostAtOnce = 100;

  private:
    void look_at(uint64_t handle);

    Server& server_;
    uint64_t last_ = 0;  // the handle of the last job that was looked at
};

}  // namespace pbs::host
