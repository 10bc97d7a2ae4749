// Observes the shares in a simulation: the trees that its policies use, and the entities of its jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/simulate/engine.h"

namespace pbs::simulate {

class ShareWatch {
  public:
    // Loads the earlier usage into the scheduler, and finds the trees of the schedulers. The usage decays
    // from `now` on, the beginning of the trace. `jobs` is the number of jobs in the trace.
    void begin(sched::Scheduler& scheduler, const std::vector<ShareUsage>& usage,
               const std::vector<std::string>& scheds, std::size_t jobs, Instant now);
    // Notes the entities of a started job. `job` is its index in the trace.
    void started(sched::Scheduler& scheduler, std::uint32_t job);
    bool empty() const { return shares_.empty(); }
    // Returns the trees with their usage at `now`.
    std::vector<SharesOfRun> end(sched::Scheduler& scheduler, Instant now);

  private:
    std::vector<SharesOfRun> shares_;
};

}  // namespace pbs::simulate
