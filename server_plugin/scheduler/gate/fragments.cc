// AVOID_FRAGMENTATION: keeps jobs smaller than a fragment (the queue's nodes by its number of jobs) from
// splitting a queue up for good. (origin-overview, "Fragmentation Avoidance Heuristics")

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant now) {
    return origin_only(s, now) && s.avoid_fragmentation.holds(now);
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    if (job.job_class == JobClass::waiting) return {};
    if (view.node_limit < 0 || view.queue->max_running < 2) return {};
    const auto fragment = view.node_limit / view.queue->max_running;
    if (fragment < 2 || view.running == 0) return {};

    const bool ends_in_time = state.ends(job) <= view.empties;
    const Reason refused{Because::fragments, view.slot, 0, fragment};
    if (view.node_limit - view.nodes < fragment && !ends_in_time) return refused;
    if (job.nodes >= fragment) return {};
    const auto average = (view.nodes + fragment / 2) / view.running;
    if (average >= fragment || !ends_in_time) return refused;
    return {};
}

}  // namespace

extern const Gate fragments_gate;
const Gate fragments_gate{"fragments", "avoid_fragmentation", lifted_by_start | waits_for_jobs, wanted,
                          check};

}  // namespace pbs::sched
