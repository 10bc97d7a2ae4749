// Dedicated time, of queues with execution_type execution_dedicated and the policy's dedicated_queues: no job
// of another queue is started in it or into it, and jobs of dedicated queues start in it only. With the
// standard algorithm they also have to end in it, as in PBS.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

std::int64_t seconds(Instant t) {
    return t.time_since_epoch().count();
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    if (view.dedicated) {
        if (!state.dedicated_now)
            return {Because::not_dedicated, view.slot, 0,
                    state.dedicated ? seconds(state.dedicated->start) : 0};
        if (state.settings->algorithm == Algorithm::standard && state.ends(job) > state.dedicated->end)
            return {Because::past_dedicated, view.slot, 0, seconds(state.dedicated->end)};
        return {};
    }
    if (!state.dedicated) return {};
    if (state.dedicated_now) return {Because::dedicated_time, view.slot, 0, seconds(state.dedicated->end)};
    if (state.ends(job) > state.dedicated->start)
        return {Because::into_dedicated, view.slot, 0, seconds(state.dedicated->start)};
    return {};
}

}  // namespace

extern const Gate dedicated_time_gate;
const Gate dedicated_time_gate{"dedicated_time", "enforce_dedicated_time, dedicated_queues", 0, always,
                               check};

}  // namespace pbs::sched
