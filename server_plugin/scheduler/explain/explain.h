// Explains why one job starts or waits.
#pragma once

#include <span>
#include <vector>

#include "server_plugin/scheduler/framework/cycle.h"
#include "server_plugin/scheduler/framework/future.h"
#include "server_plugin/scheduler/state/explanation.h"

namespace pbs::sched {

// Goes through a cycle without deciding anything, and adds the cycle's findings about the job to the input's
// explanation. REQUIRES: the job is queued.
void explain_job(const CycleInput& input);

// Tests a start of the explained job as test_start() does, and adds the answers of all filters to the input's
// explanation. REQUIRES: CycleInput::tests_start is set.
Decisions explain_start(const CycleInput& input, std::span<const Place> places);

// Returns the request's preferences that some of these vnodes miss, each with the vnodes that miss it.
std::vector<Explanation::Missed> missed_on(const Vnodes& vnodes, const Request& request,
                                           std::span<const VnodeSlot> of_job);

// Returns the layers. A layer is the amount of one resource that the server, the queue, a quota or the vnodes
// leave free. Layers are sorted by resource: for each resource those of the server come first, and vnodes
// last. The narrowest layer of a resource is the one with the least that is free; of several such layers the
// first one. O(running jobs + vnodes of the queue).
std::vector<Layer> layers_of(CycleContext& context, Future& future, const Candidate& job,
                             const QueueView& view);

}  // namespace pbs::sched
