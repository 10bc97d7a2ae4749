// max_user_run and max_group_run of the queue.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const Queue& queue = *view.queue;
    if (queue.max_user_run >= 0 && state.counts->of_user(view.slot, job.owner) >= queue.max_user_run)
        return {Because::queue_user_limit, view.slot, 0, queue.max_user_run};
    if (queue.max_group_run >= 0 && state.counts->of_group(view.slot, job.group) >= queue.max_group_run)
        return {Because::queue_group_limit, view.slot, 0, queue.max_group_run};
    return {};
}

unsigned reads(const CycleState&, const QueueView& view) {
    return (view.queue->max_user_run >= 0 ? reads_owner : 0U) |
           (view.queue->max_group_run >= 0 ? reads_group : 0U);
}

bool is_open(const CycleState& state, const QueueView& view) {
    return reads(state, view) == 0;
}

}  // namespace

extern const Gate user_limits_gate;
const Gate user_limits_gate{"user_limits", "", waits_for_jobs, always, check, reads, is_open};

}  // namespace pbs::sched
