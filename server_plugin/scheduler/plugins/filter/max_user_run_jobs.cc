// MAX_USER_RUN_JOBS: the most jobs of one user that run at once, over all queues.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_max_user_run_jobs(const Settings& s, Instant) {
    return s.max_user_run_jobs > 0;
}

Refusal check_max_user_run_jobs(const OwnerUse& owner, const Opening& o) {
    const auto limit = o.settings->max_user_run_jobs;
    if (owner.running() < limit) return {};
    return Refusal::for_less_of({ReasonCode::user_job_limit, o.slot, 0, limit},
                                {UseKey::Kind::server_user, 0, owner.id()});
}

std::optional<JobSize> leaves_max_user_run_jobs(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server_user) return std::nullopt;
    const auto running = state.counts->of_user(RunCounts::kEverywhere, key.of);
    return running < state.settings->max_user_run_jobs ? kAnySize : kNoSize;
}

}  // namespace

extern const Filter kMaxUserRunJobsFilter;
const Filter kMaxUserRunJobsFilter{.name = "max_user_run_jobs",
                                   .attributes = "max_user_run_jobs",
                                   .traits = by_limits_only,
                                   .check = check_max_user_run_jobs,
                                   .wanted = wanted_max_user_run_jobs,
                                   .leaves = leaves_max_user_run_jobs};

}  // namespace pbs::sched
