// The number of a lane's first turn, for deals that take jobs from queues in turn. A lane is a sorted list of
// pending jobs of one queue.
#pragma once

#include <algorithm>

#include "server_plugin/scheduler/pending/deal.h"

namespace pbs::sched {

// Returns the number of a lane's first turn: a lower number for a queue of higher priority, so that queues of
// one priority take turns before those of the next; 0 for all queues with round_robin_all. The step of 2^32
// between two priorities is more rounds than a lane has jobs.
inline std::int64_t round_robin_begin(const DealContext& c, const DealtLane& lane) {
    if (c.settings.round_robin_all) return 0;
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    return -std::clamp<std::int64_t>(c.queues[lane.queue].priority, -kMost, kMost) * (std::int64_t{1} << 32);
}

}  // namespace pbs::sched
