// AVOID_FRAGMENTATION: prevents jobs smaller than a fragment (the queue's nodes divided by its max_running)
// from fragmenting a queue for good. (origin-overview, "Fragmentation Avoidance Heuristics")

#include <algorithm>

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_fragments(const Settings& s, Instant now) {
    return s.avoid_fragmentation.holds(now);
}

Refusal check_fragments(CycleState& state, const JobNeeds& job, QueueView& view) {
    if (job.job_class == JobClass::overdue) return {};
    if (view.node_limit < 0 || view.queue->max_running < 2) return {};
    const auto fragment = view.node_limit / view.queue->max_running;
    if (fragment < 2 || view.running == 0) return {};

    const bool ends_in_time = state.ends(job) <= view.empties;
    const std::int64_t longest = std::max<std::int64_t>(0, (view.empties - state.now).count());
    // Returns the refusal unless `passes`. The start of a job may lift the refusal by prolonging the use of
    // the queue, and the end of one by changing the sizes of the queue's jobs.
    const auto unless = [&](bool passes, std::int64_t nodes, std::int64_t walltime) -> Refusal {
        if (passes) return {};
        return {{ReasonCode::fragments, view.slot, 0, nodes, walltime},
                blocker::kStart | blocker::less_of({UseScope::queue, EntityKind::all, view.slot})};
    };
    if (view.node_limit - view.nodes < fragment) return unless(ends_in_time, -1, longest);
    if (job.nodes >= fragment) return {};
    const auto average = (view.nodes + fragment / 2) / view.running;
    if (average >= fragment) return unless(false, fragment, -1);
    return unless(ends_in_time, fragment, longest);
}

std::optional<JobSize> leaves_fragments(const CycleState& state, const UseKey& key) {
    return left_by_views(state, key, [](const QueueView&) { return std::optional(kAnySize); });
}

}  // namespace

extern const Filter kFragmentsFilter{.name = "fragments",
                                     .attributes = "avoid_fragmentation",
                                     .traits = about_last_end,
                                     .check = check_fragments,
                                     .wanted = wanted_fragments,
                                     .leaves = leaves_fragments};

}  // namespace pbs::sched
