// MAX_DEDICATED_JOBS: the most jobs of dedicated queues that run at once.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_max_dedicated_jobs(const Settings& s, Instant) {
    return s.max_dedicated_jobs > 0;
}

Refusal check_max_dedicated_jobs(CycleState& state, const Asked&, QueueView& view) {
    const auto limit = state.settings->max_dedicated_jobs;
    if (!view.dedicated || state.dedicated_running < limit) return {};
    return Refusal::for_less_of({ReasonCode::dedicated_jobs_limit, view.slot, 0, limit},
                                {UseKey::Kind::dedicated, 0, 0});
}

std::optional<JobSize> leaves_max_dedicated_jobs(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::dedicated) return std::nullopt;
    return state.dedicated_running < state.settings->max_dedicated_jobs ? kAnySize : kNoSize;
}

bool is_open_max_dedicated_jobs(const Opening& o) {
    return !o.dedicated;
}

}  // namespace

extern const Filter kMaxDedicatedJobsFilter;
const Filter kMaxDedicatedJobsFilter{.name = "max_dedicated_jobs",
                                     .attributes = "max_dedicated_jobs",
                                     .traits = by_limits_only,
                                     .check = check_max_dedicated_jobs,
                                     .wanted = wanted_max_dedicated_jobs,
                                     .is_open = is_open_max_dedicated_jobs,
                                     .leaves = leaves_max_dedicated_jobs};

}  // namespace pbs::sched
