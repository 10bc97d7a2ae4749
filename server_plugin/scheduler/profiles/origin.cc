// The profile of the NAS Origin2000 scheduler. (origin-facts, "Tests before a job starts" and "Order of the
// job list")

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/profiles/rules.h"

namespace pbs::sched {
namespace {

constexpr std::array<const Filter*, 23> filters = {
    &queue_maximum_filter,       // resources_max and resources_min of the queue, its size
    &user_acl_filter,            // acl_users of the queue
    &dedicated_time_filter,      // ENFORCE_DEDICATED_TIME
    &execution_type_filter,      // execution_type of the queue
    &queue_window_filter,        // time_window of the queue
    &prime_limit_filter,         // PRIME_TIME_WALLT_LIMIT
    &nonprime_drain_filter,      // NONPRIME_DRAIN_SYS
    &queue_started_filter,       // started of the queue
    &max_running_filter,         // max_running of the queue
    &queue_nodes_filter,         // nodes of the queue
    &queue_resources_filter,     // resources_available of the queue
    &server_max_running_filter,  // max_running of the server
    &server_user_limit_filter,   // max_user_run of the server
    &server_group_limit_filter,  // max_group_run of the server
    &server_resources_filter,    // resources_available of the server
    &hosts_filter,               // room on vnodes, load, MAX_JOBS
    &reservations_filter,        // drained for another job
    &queue_user_limit_filter,    // max_user_run of the queue
    &queue_group_limit_filter,   // max_group_run of the queue
    &max_user_run_jobs_filter,   // MAX_USER_RUN_JOBS
    &max_dedicated_jobs_filter,  // MAX_DEDICATED_JOBS
    &fragments_filter,           // AVOID_FRAGMENTATION
    &hpm_counters_filter,        // MANAGE_HPM_COUNTERS
};

constexpr std::array<const Admission*, 2> admissions = {
    &allocation_admission,     // ENFORCE_ALLOCATION
    &small_job_max_admission,  // SMALL_JOB_MAX
};

constexpr std::array<const AfterRefusalRule*, 2> after_refusal = {
    &drain_after_refusal,            // for whom queues are drained
    &early_non_prime_after_refusal,  // NP_DRAIN_BACKTIME, NP_DRAIN_IDLETIME
};

constexpr std::array<const Decide*, 6> decides = {
    &moves_decide, &starts_decide, &rejections_decide, &comments_decide, &test_only_decide, &estimates_decide,
};

constexpr std::array<const CycleLogRule*, 2> logs = {
    &schedule_log_rule,
    &sorted_jobs_rule,  // SORTED_JOB_DUMPFILE
};

constexpr std::array<const Deal*, 1> deals = {
    &past_usage_deal,  // SORT_BY_PAST_USAGE
};

const Chain& chain(const Policy&, JobClass job_class, bool prime_time) {
    static const Chain waiting = {up("small_queued"), down("nodes"), up("eligible"), up("sequence")};
    static const Chain special = {down("nodes"), up("sequence")};
    static const Chain prime = {up("walltime"), down("nodes"), up("eligible"), up("sequence")};
    static const Chain non_prime = {down("nodes"), up("walltime"), up("eligible"), up("sequence")};
    static const Chain in_order = {up("queued"), up("sequence")};
    switch (job_class) {
        case JobClass::overdue:
            return waiting;
        case JobClass::special:
            return special;
        case JobClass::normal:
            return prime_time ? prime : non_prime;
        case JobClass::running:
        case JobClass::dedicated:
        case JobClass::rest:
            break;
    }
    return in_order;
}

}  // namespace

extern const Profile origin_profile;
const Profile origin_profile{
    .name = "origin",
    .intake = JobSource::named_queues,
    .chain = chain,
    .lane_chain = chain,
    .deals = deals,
    .admissions = admissions,
    .filters = filters,
    .node_order = &priority_order,
    .after_refusal = after_refusal,
    .decides = decides,
    .logs = logs,
    .class_names = {"running", "waiting", "special", "normal", "dedicated", "external"},
    .counts_nodes = true,
    .comments_starts = true,
    .keep_own = [](Settings& s) { keep_own(s, objects::ActsWith::origin); },
};

}  // namespace pbs::sched
