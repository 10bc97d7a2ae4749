// round_robin: one job from each queue in turn, queues of the highest priority first, as OpenPBS deals; or
// from all queues (torque-pbs_sched-analysis, "Round-Robin").
#pragma once

#include <span>

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {

// Deals sorted jobs out again, of queues of equal priority (with round_robin_all, of all queues): the first
// job of each queue, in the order of the queues' ranks, then the second of each, and so on. Starving jobs,
// which are first, stay where they are. O(n log n).
void round_robin(const OrderContext& context, std::span<OrderedJob> sorted);

}  // namespace pbs::sched
