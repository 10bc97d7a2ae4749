// A queue with time_windows starts jobs, and resumes suspended ones, only inside them. The filter
// prime_boundary limits how far jobs run past the end.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {

Reason suspended_until(const CycleState& state, const QueueView& view) {
    const QueueHours::Window* next = view.opens ? view.hours->window_at(*view.opens) : nullptr;
    if (next == nullptr) return {ReasonCode::suspended_until, view.slot};
    return {ReasonCode::suspended_until, view.slot, state.strings->id(next->name), kept_instant(view.opens)};
}

namespace {

Refusal check_queue_window(CycleState& state, const JobNeeds& job, QueueView& view) {
    if (view.open) return {};
    if (job.suspended != kNoSlot) return Refusal::until_named(suspended_until(state, view));
    return Refusal::until_named({ReasonCode::queue_closed, view.slot, 0, kept_instant(view.opens)});
}

bool is_open_queue_window(const QueueFacts& o) {
    return o.window_open;
}

}  // namespace

extern const Filter kQueueWindowFilter{.name = "queue_window",
                                       .traits = about_time | by_limits_only,
                                       .check = check_queue_window,
                                       .is_open = is_open_queue_window};

}  // namespace pbs::sched
