// The profile of the PBS scheduler: sort keys or a formula, strict ordering, backfilling around the first
// jobs. (PP-748, interface 1)

#include <algorithm>

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/plugins/comparators.h"
#include "server_plugin/scheduler/profiles/rules.h"

namespace pbs::sched {
namespace {

// The filters. Before them, a cycle checks that the job's queue is started, and its execution_type.
constexpr auto kStandardFilters =
    joined(std::to_array<const Filter*>({
               &kQueueMaximumFilter,  // resources_max, resources_min and reserved_resources of the queue
               &kUserAclFilter,       // acl_users of the queue
           }),
           max_run_filters(),
           std::to_array<const Filter*>({
               &kDedicatedTimeFilter,     // windows of type dedicated
               &kDedicatedEndFilter,      // the end of dedicated time
               &kQueueWindowFilter,       // time_window of the queue
               &kPrimeBoundaryFilter,     // backfill_prime
               &kMaxRunningFilter,        // max_running of the queue
               &kQueueResourcesFilter,    // resources_available of the queue
               &kServerMaxRunningFilter,  // max_running of the server
               &kServerUserLimitFilter,   // max_user_run of the server
               &kServerGroupLimitFilter,  // max_group_run of the server
               &kServerResourcesFilter,   // resources_available of the server
               &kMaxRunSubjobsFilter,     // max_run_subjobs
               &kQuotaFilter,             // quotas
               &kLoadThresholdsFilter,    // load_thresholds
               &kHostsFilter,             // room on vnodes
               &kReservationsFilter,      // reservations for top jobs
               &kQueueUserLimitFilter,    // max_user_run of the queue
               &kQueueGroupLimitFilter,   // max_group_run of the queue
               &kNoSharesFilter,          // enforce_no_shares
           }));

constexpr auto kStandardQuestions = std::to_array<const QuestionRule*>({
    &kDedicatedTimeQuestions,
    &kServerDynResQuestions,  // server_dyn_res
});

constexpr auto kStandardAfterRefusal = std::to_array<const AfterRefusalRule*>({
    &kPreemptionAfterRefusal,  // preemption, preempt_prio, preempt_queue_prio, preempt_order
    &kTopJobsAfterRefusal,     // strict_ordering, help_starving_jobs, backfill_depth
});

constexpr auto kStandardDecides = std::to_array<const Decide*>({
    &kClosingsDecide,  // at_close of time_windows
    &kPreemptionsDecide,
    &kStartsDecide,
    &kRejectionsDecide,
    &kImmediateDecide,
    &kAccrualDecide,
    &kCommentsDecide,
    &kTestOnlyDecide,
    &kEstimatesDecide,
    &kWeightsDecide,
});

constexpr auto kStandardLogs = std::to_array<const CycleLogRule*>({
    &kScheduleLogRule,
});

constexpr auto kStandardDeals = std::to_array<const Deal*>({
    &kFairShareDeal,
    &kRoundRobinDeal,
    &kByQueueDeal,
});

// Makes the chains: starving jobs first, by_queue, the formula, job_sort_key, and the time in the queue.
void make_chains(Policy& policy, const Resources& resources) {
    if (policy.resources_seen == resources.version()) return;
    policy.resources_seen = resources.version();
    const Settings& s = policy.settings;
    Chain& chain = policy.chain;
    chain.clear();
    if (s.help_starving_jobs) chain.push_back(up(kStarvingOrder));
    if (s.by_queue && !s.round_robin) chain.push_back(up(kQueueOrder));
    if (s.weighted_priority) chain.push_back(up(kWeightedOrder));
    if (!s.job_sort_formula.empty()) chain.push_back(up(kFormulaOrder));
    for (const SortKey& key : s.job_sort_key) {
        if (key.name == "job_priority" || key.name == "sort_priority") {
            chain.push_back({&kJobPriorityOrder, 0, key.high_first});
        } else if (key.name == "fairshare_perc" || key.name == "fair_share_perc") {
            chain.push_back({&kFairsharePercOrder, 0, key.high_first});
        } else if (key.name == "walltime") {
            chain.push_back({&kAskedWalltimeOrder, 0, key.high_first});
        } else if (const auto id = resources.id(key.name); id != kNoResource) {
            chain.push_back({&kResourceOrder, id, key.high_first});
        }
    }
    chain.push_back(up(kQueuedOrder));
    chain.push_back(up(kSequenceOrder));
    // The jobs of a lane (a sorted list of pending jobs) are in one queue, and either all of them are
    // starving or none. So a lane needs neither of these comparators.
    policy.lane_chain = chain;
    std::erase_if(policy.lane_chain, [](const Link& link) {
        return link.comparator == &kStarvingOrder || link.comparator == &kQueueOrder;
    });
}

const Chain& standard_chain(const Policy& policy, JobClass, bool) {
    return policy.chain;
}

const Chain& standard_lane_chain(const Policy& policy, JobClass, bool) {
    return policy.lane_chain;
}

}  // namespace

extern const Profile kStandardProfile{
    .name = "standard",
    .intake = JobSource::every_queue,
    .chain = standard_chain,
    .lane_chain = standard_lane_chain,
    .make_chains = make_chains,
    .deals = kStandardDeals,
    .filters = kStandardFilters,
    .questions = kStandardQuestions,
    .node_order = &kNodeSortKeyOrder,
    .after_refusal = kStandardAfterRefusal,
    .decides = kStandardDecides,
    .logs = kStandardLogs,
    .class_names = {"running", "starving", "special", "normal", "dedicated", "external"},
    .divides_chunks = true,
    .keep_own = [](Settings& s) { keep_own(s, objects::ActsWith::standard); },
};

}  // namespace pbs::sched
