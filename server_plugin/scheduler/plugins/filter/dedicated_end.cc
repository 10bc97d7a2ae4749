// Jobs of dedicated queues have to end before dedicated time does, as in PBS.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_dedicated_end(CycleState& state, const JobNeeds& job, QueueView& view) {
    if (!view.dedicated || !view.dedicated_now || state.ends(job) <= view.dedicated_time->end) return {};
    return Refusal::until_named({ReasonCode::past_dedicated, view.slot, 0,
                                 kept_instant(view.dedicated_time->end), 0, job.without_walltime()});
}

bool is_open_dedicated_end(const QueueFacts& o) {
    return !o.dedicated;
}

}  // namespace

extern const Filter kDedicatedEndFilter;
const Filter kDedicatedEndFilter{.name = "dedicated_end",
                                 .attributes = "dedicated_queues",
                                 .traits = about_time | by_limits_only,
                                 .check = check_dedicated_end,
                                 .is_open = is_open_dedicated_end};

}  // namespace pbs::sched
