// Declares all rules, for the tables of the profiles.
#pragma once

#include "server_plugin/scheduler/framework/after_refusal.h"
#include "server_plugin/scheduler/framework/cycle_log.h"
#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/node_order.h"
#include "server_plugin/scheduler/pending/deal.h"

namespace pbs::sched {

extern const Deal by_queue_deal;
extern const Deal fair_share_deal;
extern const Deal past_usage_deal;
extern const Deal round_robin_deal;

extern const Admission allocation_admission;
extern const Admission small_job_max_admission;

extern const Filter dedicated_end_filter;
extern const Filter dedicated_time_filter;
extern const Filter execution_type_filter;
extern const Filter fragments_filter;
extern const Filter hosts_filter;
extern const Filter hpm_counters_filter;
extern const Filter max_dedicated_jobs_filter;
extern const Filter max_running_filter;
extern const Filter max_user_run_jobs_filter;
extern const Filter no_shares_filter;
extern const Filter nonprime_drain_filter;
extern const Filter prime_boundary_filter;
extern const Filter prime_limit_filter;
extern const Filter queue_group_limit_filter;
extern const Filter queue_maximum_filter;
extern const Filter queue_nodes_filter;
extern const Filter queue_resources_filter;
extern const Filter queue_started_filter;
extern const Filter queue_user_limit_filter;
extern const Filter queue_window_filter;
extern const Filter reservations_filter;
extern const Filter server_group_limit_filter;
extern const Filter server_max_running_filter;
extern const Filter server_resources_filter;
extern const Filter server_user_limit_filter;
extern const Filter user_acl_filter;

extern const NodeOrder node_sort_key_order;
extern const NodeOrder priority_order;

extern const AfterRefusalRule drain_after_refusal;
extern const AfterRefusalRule early_non_prime_after_refusal;
extern const AfterRefusalRule top_jobs_after_refusal;

extern const Decide comments_decide;
extern const Decide estimates_decide;
extern const Decide moves_decide;
extern const Decide rejections_decide;
extern const Decide starts_decide;
extern const Decide test_only_decide;

extern const CycleLogRule schedule_log_rule;
extern const CycleLogRule sorted_jobs_rule;

}  // namespace pbs::sched
