// The profile of the NAS Origin2000 scheduler. (origin-facts, "Tests before a job starts" and "Order of the
// job list")

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/plugins/comparators.h"
#include "server_plugin/scheduler/profiles/rules.h"

namespace pbs::sched {
namespace {

constexpr auto kOriginFilters =
    joined(std::to_array<const Filter*>({
               &kQueueMaximumFilter,      // resources_max and resources_min of the queue, its number of nodes
               &kUserAclFilter,           // acl_users of the queue
               &kDedicatedTimeFilter,     // ENFORCE_DEDICATED_TIME
               &kExecutionTypeFilter,     // execution_type of the queue
               &kQueueWindowFilter,       // time_window of the queue
               &kPrimeLimitFilter,        // PRIME_TIME_WALLT_LIMIT
               &kNonprimeDrainFilter,     // NONPRIME_DRAIN_SYS
               &kQueueStartedFilter,      // started of the queue
               &kMaxRunningFilter,        // max_running of the queue
               &kQueueNodesFilter,        // nodes of the queue
               &kQueueResourcesFilter,    // resources_available of the queue
               &kServerMaxRunningFilter,  // max_running of the server
               &kServerUserLimitFilter,   // max_user_run of the server
               &kServerGroupLimitFilter,  // max_group_run of the server
               &kServerResourcesFilter,   // resources_available of the server
           }),
           max_run_filters(),
           std::to_array<const Filter*>({
               &kQuotaFilter,             // quotas
               &kHostsFilter,             // room on vnodes, load, MAX_JOBS
               &kReservationsFilter,      // queues drained for other jobs
               &kQueueUserLimitFilter,    // max_user_run of the queue
               &kQueueGroupLimitFilter,   // max_group_run of the queue
               &kMaxUserRunJobsFilter,    // MAX_USER_RUN_JOBS
               &kMaxDedicatedJobsFilter,  // MAX_DEDICATED_JOBS
               &kFragmentsFilter,         // AVOID_FRAGMENTATION
               &kHpmCountersFilter,       // MANAGE_HPM_COUNTERS
           }));

constexpr auto kOriginAdmissions = std::to_array<const Admission*>({
    &kAllocationAdmission,   // ENFORCE_ALLOCATION
    &kSmallJobMaxAdmission,  // SMALL_JOB_MAX
});

constexpr auto kOriginQuestions = std::to_array<const QuestionRule*>({
    &kAllocationQuestions,     // SCHED_ACCT_DIR
    &kDedicatedTimeQuestions,  // DEDICATED_TIME_COMMAND
    &kHpmCountersQuestions,    // HPM_CTL
    &kServerDynResQuestions,
});

constexpr auto kOriginBoundaries = std::to_array<const BoundaryRule*>({
    &kDedicatedTimeBoundaries,
    &kPrimeLimitBoundaries,
    &kEarlyNonPrimeBoundaries,
});

constexpr auto kOriginAfterRefusal = std::to_array<const AfterRefusalRule*>({
    &kRestartActionAfterRefusal,  // SCHED_RESTART_ACTION
    &kDrainAfterRefusal,          // drains queues for refused jobs
    &kEarlyNonPrimeAfterRefusal,  // NP_DRAIN_BACKTIME, NP_DRAIN_IDLETIME
});

constexpr auto kOriginDecides = std::to_array<const Decide*>({
    &kMovesDecide,
    &kStartsDecide,
    &kRejectionsDecide,
    &kCommentsDecide,
    &kTestOnlyDecide,
    &kEstimatesDecide,
    &kHpmCountersDecide,
});

constexpr auto kOriginLogs = std::to_array<const CycleLogRule*>({
    &kScheduleLogRule,
    &kSortedJobsRule,  // SORTED_JOB_DUMPFILE
});

constexpr auto kOriginDeals = std::to_array<const Deal*>({
    &kPastUsageDeal,  // SORT_BY_PAST_USAGE
});

const Chain& origin_chain(const Policy&, JobClass job_class, bool prime_time) {
    static const Chain waiting = {up(kSmallQueuedOrder), down(kNodesOrder), up(kEligibleOrder),
                                  up(kSequenceOrder)};
    static const Chain special = {down(kNodesOrder), up(kSequenceOrder)};
    static const Chain prime = {up(kWalltimeOrder), down(kNodesOrder), up(kEligibleOrder),
                                up(kSequenceOrder)};
    static const Chain non_prime = {down(kNodesOrder), up(kWalltimeOrder), up(kEligibleOrder),
                                    up(kSequenceOrder)};
    static const Chain in_order = {up(kQueuedOrder), up(kSequenceOrder)};
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

extern const Profile kOriginProfile{
    .name = "origin",
    .intake = JobSource::named_queues,
    .chain = origin_chain,
    .lane_chain = origin_chain,
    .deals = kOriginDeals,
    .admissions = kOriginAdmissions,
    .filters = kOriginFilters,
    .questions = kOriginQuestions,
    .boundaries = kOriginBoundaries,
    .node_order = &kPriorityOrder,
    .after_refusal = kOriginAfterRefusal,
    .decides = kOriginDecides,
    .logs = kOriginLogs,
    .class_names = {"running", "waiting", "special", "normal", "dedicated", "external"},
    .counts_nodes = true,
    .comments_starts = true,
    .keep_own = [](Settings& s) { keep_own(s, objects::ActsWith::origin); },
};

}  // namespace pbs::sched
