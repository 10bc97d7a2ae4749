// MAX_DEDICATED_JOBS: how many jobs of dedicated queues run at once.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant now) {
    return origin_only(s, now) && s.max_dedicated_jobs > 0;
}

Reason check(CycleState& state, const Candidate&, QueueView& view) {
    const auto limit = state.settings->max_dedicated_jobs;
    if (!view.dedicated || state.dedicated_running < limit) return {};
    return {Because::dedicated_jobs_limit, view.slot, 0, limit};
}

Blockers blockers(const CycleState&, const Candidate&, const QueueView&, const Reason&) {
    return blocker::less_of({UseKey::Kind::dedicated, 0, 0});
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::dedicated) return std::nullopt;
    return state.dedicated_running < state.settings->max_dedicated_jobs ? any_size : no_size;
}

bool is_open(const CycleState&, const QueueView& view) {
    return !view.dedicated;
}

}  // namespace

extern const Gate max_dedicated_jobs_gate;
const Gate max_dedicated_jobs_gate{"max_dedicated_jobs",
                                   "max_dedicated_jobs",
                                   waits_for_jobs,
                                   wanted,
                                   check,
                                   blockers,
                                   nullptr,
                                   is_open,
                                   nullptr,
                                   leaves};

}  // namespace pbs::sched
