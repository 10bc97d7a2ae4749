// What running jobs have used so far: users see it as resources_used, and shares count it. The runner knows
// it. It isn't stored: after a restart it is asked for again.
#pragma once

#include <cstdint>

#include "server_plugin/host/change/server.h"

namespace pbs::host {

class RunningUsage {
  public:
    // The server outlives this.
    explicit RunningUsage(Server& server) : server_(server) {}

    // Looks at the next few of the running jobs. Called at each tick, it has looked at all of them after
    // kTicks, or after one for each kMostAtOnce if they are very many.
    void look();

    static constexpr std::size_t kTicks = 20;
    static constexpr std::size_t kMostAtOnce = 100;

  private:
    void look_at(uint64_t handle);

    Server& server_;
    uint64_t last_ = 0;  // the handle of the job that was looked at last
};

}  // namespace pbs::host
