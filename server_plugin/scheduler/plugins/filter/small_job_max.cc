// SMALL_JOB_MAX: small and large jobs have separate walltime limits; jobs that exceed theirs are rejected.
// Special jobs have no limit. (sched-config guide, "Job Size-Based Walltime Limits")

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_small_job_max(const Settings& s, Instant) {
    return s.small_job_max > 0;
}

Refusal check_small_job_max(const Settings& s, const JobNeeds& job) {
    if (job.job_class != JobClass::normal && job.job_class != JobClass::overdue) return {};
    const bool small = job.nodes <= s.small_job_max;
    const Seconds limit = small ? s.wallt_limit_small_job : s.wallt_limit_large_job;
    if (limit == Seconds(0) || job.asked <= limit) return {};
    return Refusal::for_good({small ? ReasonCode::small_job_walltime : ReasonCode::large_job_walltime,
                              UINT32_MAX, 0, limit.count(), s.small_job_max});
}

}  // namespace

extern const Admission kSmallJobMaxAdmission{
    .name = "small_job_max",
    .attributes = "small_job_max, wallt_limit_small_job, wallt_limit_large_job",
    .check = check_small_job_max,
    .wanted = wanted_small_job_max};

}  // namespace pbs::sched
