#include <fmt/format.h>

#include "objects/unsupported.h"

namespace pbs::objects {
namespace {

using enum Asks;

constexpr ObjectType policy = ObjectType::policy;
constexpr ObjectType queue = ObjectType::queue;

constexpr std::string_view kNoPreemption = "no job is preempted";
constexpr std::string_view kNoShares = "jobs are not ordered by shares";
constexpr std::string_view kNoQueueOfThatKind = "the queue has no special meaning";

// In the order in which they are told. To be taken out one by one as they are built.
constexpr Unsupported kTable[] = {
    {policy,
     "node_sort_key",
     anything,
     {},
     "vnodes are tried by priority, then in the order in which they "
     "were made"},
    {policy, "provision_policy", anything, {}, "vnodes are not provisioned"},
    {policy, "exclude_resources", anything, {}, "all resources are checked"},
    {policy, "load_balancing", anything, {}, "the load of hosts is not looked at"},
    {policy, "fairshare", anything, {}, kNoShares},
    {policy, "fairshare_group", anything, {}, kNoShares},
    {policy, "preemption", always, {}, kNoPreemption},
    {policy, "preempt_queue_prio", anything, {}, kNoPreemption},
    {policy, "preempt_prio", anything, {}, kNoPreemption},
    {policy, "preempt_order", anything, {}, kNoPreemption},
    {policy, "preempt_sort", anything, {}, kNoPreemption},
    {policy, "peer_queue", anything, {}, "no jobs are pulled from other servers"},
    {policy, "server_dyn_res", anything, {}, "the programs are not run"},
    {policy, "log_event", anything, {}, "the server's log_events chooses what is logged"},
    {policy, "background_queue_name", anything, {}, kNoQueueOfThatKind},
    {policy, "challenge_queue_name", anything, {}, kNoQueueOfThatKind},
    {policy, "server_host", anything, {}, "the scheduler is part of the server"},

    {policy, "algorithm", element, "external",
     "pbs_sched isn't beside this server, which schedules as with standard"},
    {policy, "job_sort_key", element, "fairshare_perc", kNoShares},
    {policy, "job_sort_key", element, "preempt_priority", kNoPreemption},
    {policy, "job_sort_formula", term, "fairshare_perc", kNoShares},
    {policy, "job_sort_formula", term, "fair_share_perc", kNoShares},
    {policy, "job_sort_formula", term, "fairshare_tree_usage", kNoShares},
    {policy, "job_sort_formula", term, "fairshare_factor", kNoShares},
    {policy, "job_sort_formula", term, "accrue_type", "how a job's time counts is not looked at"},

    {policy, "schedule_log", elsewhere, {}, {}},
    {policy, "sorted_job_dumpfile", elsewhere, {}, {}},

    {policy, "dedicated_queues", host, "standard", "the queue itself names the vnodes that its jobs may use"},
    {policy, "submit_queue", host, "origin", "no job runs in it"},
    {policy, "special_queue", host, "origin", "no job runs in it"},

    // What the other algorithm has nothing of.
    {policy, "special_queue", of, "origin", {}},
    {policy, "external_queues", of, "origin", {}},
    {policy, "submit_queue", of, "origin", {}},
    {policy, "batch_queues", of, "origin", {}},
    {policy, "enforce_prime_time", of, "origin", {}},
    {policy, "prime_time_wallt_limit", of, "origin", {}},
    {policy, "prime_time_small_node_limit", of, "origin", {}},
    {policy, "prime_time_small_wallt_limit", of, "origin", {}},
    {policy, "small_job_max", of, "origin", {}},
    {policy, "wallt_limit_small_job", of, "origin", {}},
    {policy, "wallt_limit_large_job", of, "origin", {}},
    {policy, "enforce_dedicated_time", of, "origin", {}},
    {policy, "dedicated_time_command", of, "origin", {}},
    {policy, "dedicated_time_cache_secs", of, "origin", {}},
    {policy, "system_name", of, "origin", {}},
    {policy, "max_dedicated_jobs", of, "origin", {}},
    {policy, "nonprime_drain_sys", of, "origin", {}},
    {policy, "np_drain_backtime", of, "origin", {}},
    {policy, "np_drain_idletime", of, "origin", {}},
    {policy, "max_jobs", of, "origin", {}},
    {policy, "min_jobs", of, "origin", {}},
    {policy, "max_user_run_jobs", of, "origin", {}},
    {policy, "target_load_pct", of, "origin", {}},
    {policy, "target_load_variance", of, "origin", {}},
    {policy, "high_systime", of, "origin", {}},
    {policy, "enforce_allocation", of, "origin", {}},
    {policy, "sched_acct_dir", of, "origin", {}},
    {policy, "sort_by_past_usage", of, "origin", {}},
    {policy, "past_usage_charge", of, "origin", {}},
    {policy, "decay_factor", of, "origin", {}},
    {policy, "oa_decay_factor", of, "origin", {}},
    {policy, "max_queued_time", of, "origin", {}},
    {policy, "interactive_long_wait", of, "origin", {}},
    {policy, "small_queued_time", of, "origin", {}},
    {policy, "sorted_job_dumpfile", of, "origin", {}},
    {policy, "manage_hpm_counters", of, "origin", {}},
    {policy, "hpm_ctl", of, "origin", {}},
    {policy, "revoke_hpm_counters", of, "origin", {}},
    {policy, "sched_restart_action", of, "origin", {}},
    {policy, "sched_host", of, "origin", {}},
    {policy, "avoid_fragmentation", of, "origin", {}},
    {policy, "test_only", of, "origin", {}},
    {policy, "fake_machine_mult", of, "origin", {}},
    {policy, "ssinode_cpus", of, "origin", {}},
    {policy, "ssinode_mem", of, "origin", {}},
    {policy, "round_robin", of, "standard", {}},
    {policy, "round_robin_all", of, "standard", {}},
    {policy, "by_queue", of, "standard", {}},
    {policy, "strict_ordering", of, "standard", {}},
    {policy, "help_starving_jobs", of, "standard", {}},
    {policy, "max_starve", of, "standard", {}},
    {policy, "backfill_depth", of, "standard", {}},
    {policy, "job_sort_formula", of, "standard", {}},
    {policy, "job_sort_key", of, "standard", {}},
    {policy, "backfill_prime", of, "standard", {}},
    {policy, "prime_exempt_anytime_queues", of, "standard", {}},
    {policy, "time_window_spill", of, "standard", {}},

    // What acts only together with another attribute: most of these the guide calls required.
    {policy, "round_robin_all", without, "round_robin", {}},
    {policy, "max_starve", without, "help_starving_jobs", {}},
    {policy, "backfill_depth", without, "strict_ordering or help_starving_jobs", {}},
    {policy, "prime_exempt_anytime_queues", without, "backfill_prime", {}},
    {policy, "time_window_spill", without, "backfill_prime", {}},
    {policy, "prime_time_start", without, "prime_time_end", {}},
    {policy, "prime_time_end", without, "prime_time_start", {}},
    {policy, "prime_time_wallt_limit", without, "enforce_prime_time", {}},
    {policy, "prime_time_small_node_limit", without, "enforce_prime_time", {}},
    {policy, "prime_time_small_node_limit", without, "prime_time_small_wallt_limit", {}},
    {policy, "prime_time_small_wallt_limit", without, "enforce_prime_time", {}},
    {policy, "prime_time_small_wallt_limit", without, "prime_time_small_node_limit", {}},
    {policy, "small_job_max", without, "wallt_limit_small_job or wallt_limit_large_job", {}},
    {policy, "wallt_limit_small_job", without, "small_job_max", {}},
    {policy, "wallt_limit_large_job", without, "small_job_max", {}},
    {policy, "dedicated_time_command", without, "enforce_dedicated_time", {}},
    {policy, "dedicated_time_cache_secs", without, "dedicated_time_command", {}},
    {policy, "system_name", without, "dedicated_time_command", {}},
    {policy, "nonprime_drain_sys", without, "enforce_prime_time", {}},
    {policy, "np_drain_backtime", without, "nonprime_drain_sys", {}},
    {policy, "np_drain_backtime", without, "np_drain_idletime", {}},
    {policy, "np_drain_idletime", without, "nonprime_drain_sys", {}},
    {policy, "np_drain_idletime", without, "np_drain_backtime", {}},
    {policy, "min_jobs", without, "target_load_pct or target_load_variance", {}},
    {policy, "sched_host", without, "sched_restart_action=restart or sched_restart_action=rerun", {}},
    {policy, "enforce_allocation", without, "sched_acct_dir", {}},
    {policy, "sched_acct_dir", without, "enforce_allocation", {}},
    {policy, "past_usage_charge", without, "sort_by_past_usage", {}},
    {policy, "decay_factor", without, "sort_by_past_usage", {}},
    {policy, "oa_decay_factor", without, "enforce_allocation", {}},
    {policy, "oa_decay_factor", without, "sort_by_past_usage", {}},
    {policy, "interactive_long_wait", without, "enforce_prime_time or max_queued_time", {}},
    {policy, "small_queued_time", without, "max_queued_time or interactive_long_wait", {}},
    {policy, "manage_hpm_counters", without, "hpm_ctl", {}},
    {policy, "hpm_ctl", without, "manage_hpm_counters", {}},
    {policy, "revoke_hpm_counters", without, "manage_hpm_counters", {}},
    {policy, "fake_machine_mult", without, "test_only", {}},
    {ObjectType::time_window, "type", without, "rrule", {}},

    // What the server keeps of a queue, by the policy in force.
    {queue, "Priority", of, "standard", {}},
    {queue, "backfill_depth", of, "standard", {}},
    {queue, "Priority", without, "by_queue or round_robin or queue_priority in job_sort_formula", {}},
    {queue, "backfill_depth", without, "strict_ordering or help_starving_jobs", {}},

    {ObjectType::fs_group, {}, always, {}, kNoShares},
};

std::string sentence(const Unsupported& row) {
    const bool of_queue = row.type == queue;
    switch (row.asks) {
        case element:
            return fmt::format("Not acted on with {}: {}.", row.word, row.why);
        case term:
            return fmt::format("{} counts as 0: {}.", row.word, row.why);
        case host:
            return fmt::format("The host of queue@host is not acted on with algorithm {}: {}.", row.word,
                               row.why);
        case without:
            return fmt::format("Not acted on without {}{}.", of_queue ? "the policy's " : "", row.word);
        case of:
            return fmt::format("Acted on with {}algorithm {} only.", of_queue ? "a policy of " : "",
                               row.word);
        case elsewhere:
            return {};  // such a value can't be set
        case anything:
        case always:
            break;
    }
    return fmt::format("Not acted on: {}.", row.why);
}

}  // namespace

std::span<const Unsupported> unsupported_table() {
    return kTable;
}

std::string unsupported_remark(ObjectType type, std::string_view attribute) {
    std::string text;
    for (const Unsupported& row : kTable) {
        const bool meant = row.attribute.empty() ? attribute != "comment" : row.attribute == attribute;
        if (row.type != type || !meant) continue;
        const std::string remark = sentence(row);
        if (!text.empty() && !remark.empty()) text += ' ';
        text += remark;
    }
    return text;
}

}  // namespace pbs::objects
