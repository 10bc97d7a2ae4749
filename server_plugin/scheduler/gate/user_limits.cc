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

Blockers blockers(const CycleState&, const Candidate& job, const QueueView& view, const Reason& reason) {
    const bool of_user = reason.because == Because::queue_user_limit;
    return blocker::less_of(of_user ? UseKey{UseKey::Kind::queue_user, view.slot, job.owner}
                                    : UseKey{UseKey::Kind::queue_group, view.slot, job.group});
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    const bool of_user = key.kind == UseKey::Kind::queue_user;
    if (!of_user && key.kind != UseKey::Kind::queue_group) return std::nullopt;
    const Queue& queue = (*state.queues)[key.object];
    const auto limit = of_user ? queue.max_user_run : queue.max_group_run;
    if (limit < 0) return std::nullopt;
    const auto running =
        of_user ? state.counts->of_user(key.object, key.of) : state.counts->of_group(key.object, key.of);
    return running < limit ? any_size : no_size;
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
const Gate user_limits_gate{"user_limits", "",    waits_for_jobs, always,  check,
                            blockers,      reads, is_open,        nullptr, leaves};

}  // namespace pbs::sched
