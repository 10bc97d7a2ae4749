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
    const auto& time = view.dedicated_time;
    if (view.dedicated) {
        if (!view.dedicated_now)
            return {Because::not_dedicated, view.slot, 0, time ? seconds(time->start) : 0};
        if (state.settings->algorithm == Algorithm::standard && state.ends(job) > time->end)
            return {Because::past_dedicated, view.slot, 0, seconds(time->end)};
        return {};
    }
    if (view.dedicated_now) return {Because::dedicated_time, view.slot, 0, seconds(time->end)};
    if (view.dedicated_awaited) return {Because::dedicated_unknown, view.slot};
    if (time && state.ends(job) > time->start)
        return {Because::into_dedicated, view.slot, 0, seconds(time->start)};
    return {};
}

bool is_open(const CycleState&, const QueueView& view) {
    return !view.dedicated && !view.dedicated_time && !view.dedicated_awaited;
}

// What would run into dedicated time can start after it.
Instant until(CycleState& state, const Candidate& job, const QueueView& view, const Reason& reason) {
    if (reason.because == Because::dedicated_unknown) return Instant::max();
    if (reason.because == Because::into_dedicated) return view.dedicated_time->end;
    return named_instant(state, job, view, reason);
}

}  // namespace

extern const Gate dedicated_time_gate;
const Gate dedicated_time_gate{"dedicated_time",
                               "enforce_dedicated_time, dedicated_time_command, dedicated_queues",
                               0,
                               always,
                               check,
                               nullptr,
                               nullptr,
                               is_open,
                               until};

}  // namespace pbs::sched
