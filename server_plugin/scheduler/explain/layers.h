// Computes, for each resource that a job asks for, the amounts that the server, the queue, quotas and vnodes
// leave free.
#pragma once

#include <vector>

#include "server_plugin/scheduler/framework/future.h"
#include "server_plugin/scheduler/state/explanation.h"

namespace pbs::sched {

// Returns the layers. A layer is the amount of one resource that the server, the queue, a quota or the vnodes
// leave free. Layers are sorted by resource: for each resource those of the server come first, and vnodes
// last. The narrowest layer of a resource is the one with the least that is free; of several such layers the
// first one. O(running jobs + vnodes of the queue).
std::vector<Layer> layers_of(CycleContext& context, Future& future, const Candidate& job,
                             const QueueView& view);

}  // namespace pbs::sched
