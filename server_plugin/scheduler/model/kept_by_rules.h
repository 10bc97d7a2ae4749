// The memory of rules from cycle to cycle, as values for records.
#pragma once

#include <vector>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// A queue on which prime time was given up early (NP_DRAIN_BACKTIME). Instant::max(): prime time never comes
// again.
struct EarlyQueue {
    QueueHandle queue{};
    Instant until{};
};

// A job that the first cycle found in a batch queue that isn't its own (SCHED_RESTART_ACTION).
struct FoundJob {
    JobHandle job{};
    QueueHandle queue{};
};

struct KeptByRules {
    bool first_cycle = true;  // no cycle has run yet
    std::vector<EarlyQueue> early;
    std::vector<FoundJob> found_at_start;
};

}  // namespace pbs::sched
