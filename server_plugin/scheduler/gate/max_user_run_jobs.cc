// MAX_USER_RUN_JOBS: how many jobs of a user run at once, in whatever queue.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant now) {
    return origin_only(s, now) && s.max_user_run_jobs > 0;
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const auto limit = state.settings->max_user_run_jobs;
    if (state.counts->of_user(RunCounts::everywhere, job.owner) < limit) return {};
    return {Because::user_job_limit, view.slot, 0, limit};
}

Blockers blockers(const CycleState&, const Candidate& job, const QueueView&, const Reason&) {
    return blocker::less_of({UseKey::Kind::server_user, 0, job.owner});
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server_user) return std::nullopt;
    const auto running = state.counts->of_user(RunCounts::everywhere, key.of);
    return running < state.settings->max_user_run_jobs ? any_size : no_size;
}

unsigned reads(const CycleState&, const QueueView&) {
    return reads_owner;
}

}  // namespace

extern const Gate max_user_run_jobs_gate;
const Gate max_user_run_jobs_gate{"max_user_run_jobs",
                                  "max_user_run_jobs",
                                  waits_for_jobs,
                                  wanted,
                                  check,
                                  blockers,
                                  reads,
                                  nullptr,
                                  nullptr,
                                  leaves};

}  // namespace pbs::sched
