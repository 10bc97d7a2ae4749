// Data that rules of an algorithm, such as prime time, keep from cycle to cycle. The values are part of the
// stored state of a scheduler (record.h).
#pragma once

#include <vector>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// A queue that ignores prime time early (NP_DRAIN_BACKTIME). Instant::max(): prime time never comes again.
struct EarlyQueue {
    QueueHandle queue{};
    Instant until{};
};

// A job that the first cycle found in a batch queue to which it had been moved (SCHED_RESTART_ACTION).
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
