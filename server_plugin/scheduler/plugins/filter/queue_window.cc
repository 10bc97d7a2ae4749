// A queue with time_windows starts jobs only inside them. The filter prime_boundary limits how far jobs run
// past the end.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_queue_window(CycleState&, const JobNeeds&, QueueView& view) {
    if (view.open) return {};
    return Refusal::until_named(
        {ReasonCode::queue_closed, view.slot, 0, view.opens ? view.opens->time_since_epoch().count() : 0});
}

bool is_open_queue_window(const QueueFacts& o) {
    return o.window_open;
}

}  // namespace

extern const Filter kQueueWindowFilter;
const Filter kQueueWindowFilter{.name = "queue_window",
                                .traits = about_time | by_limits_only,
                                .check = check_queue_window,
                                .is_open = is_open_queue_window};

}  // namespace pbs::sched
