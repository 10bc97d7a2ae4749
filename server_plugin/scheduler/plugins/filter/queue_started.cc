// `started` of the queue: no job starts in a queue that isn't started, or that isn't an execution queue.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_queue_started(CycleState&, const JobNeeds&, QueueView& view) {
    if (view.queue->started && view.queue->execution) return {};
    return Refusal::for_good({ReasonCode::queue_not_started, view.slot});
}

bool is_open_queue_started(const QueueFacts& o) {
    return o.queue->started && o.queue->execution;
}

}  // namespace

extern const Filter kQueueStartedFilter{.name = "queue_started",
                                        .traits = by_limits_only,
                                        .check = check_queue_started,
                                        .is_open = is_open_queue_started};

}  // namespace pbs::sched
