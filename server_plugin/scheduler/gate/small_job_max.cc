// SMALL_JOB_MAX: small and large jobs have walltime limits of their own; who exceeds them is rejected.
// Special jobs have none. (sched-config guide, "Job Size-Based Walltime Limits")

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant now) {
    return origin_only(s, now) && s.small_job_max > 0;
}

Reason check(const CycleState& state, const Candidate& job) {
    if (job.job_class != JobClass::normal && job.job_class != JobClass::waiting) return {};
    const Settings& s = *state.settings;
    const bool small = job.nodes <= s.small_job_max;
    const Seconds limit = small ? s.wallt_limit_small_job : s.wallt_limit_large_job;
    if (limit == Seconds(0) || job.asked <= limit) return {};
    return {small ? Because::small_job_walltime : Because::large_job_walltime, UINT32_MAX, 0, limit.count(),
            s.small_job_max};
}

}  // namespace

extern const JobGate small_job_max_gate;
const JobGate small_job_max_gate{
    "small_job_max",       "small_job_max, wallt_limit_small_job, wallt_limit_large_job", wanted, check, 0,
    blocker::configuration};

}  // namespace pbs::sched
