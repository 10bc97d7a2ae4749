// The attributes of PBS's schedulers. The attribute policy, which this project adds to them, is in objects/.
#include <array>

#include "ifl/attributes/attribute_table.h"

namespace pbs::ifl {
namespace {

using enum AttributeType;

constexpr std::string_view kJobRunWaitWords[] = {"none", "runjob_hook", "execjob_hook"};
constexpr std::string_view kOptBackfillFuzzyWords[] = {"off", "low", "med", "high"};

constexpr auto kSchedRows = std::to_array<AttributeDef>({
    {"sched_host", text, kReadOnly | computed, "", "The host of the scheduler"},
    {"partition", text, kManagerOnlySet, "",
     "The scheduler serves the queues and vnodes of this partition; the default scheduler serves those "
     "without a partition"},
    {"sched_priv", text, kManagerOnlySet, "",
     "The folder of the scheduler's files; sched_config is read from it if no policy is assigned"},
    {"sched_log", text, kManagerOnlySet, "",
     "The folder of the scheduler's log. Has no effect: all schedulers write to the server's "
     "log"},
    {"scheduling", boolean, kManagerOnlySet | preset, "True",
     "Whether the scheduler starts jobs; for the default scheduler it is the server's scheduling, for a new "
     "scheduler it is False at first"},
    {"scheduler_iteration", integer, kManagerOnlySet | preset, "600",
     "How many seconds there are at most between two cycles"},
    {"comment", text, kManagerOnlySet, "", "A remark, for people"},
    {"state", text, kReadOnly | computed, "", "The state of the scheduler: idle, scheduling or down"},
    {"scheduled_by", text, kReadOnly | computed, "",
     "With algorithm external: the user and host of the program that has registered as the scheduler, or "
     "nobody, and since when"},
    // shown by the policy plugin
    {"active_policy", text, kReadOnly | of_plugin, "", "The policy that is in force now"},
    {"configuration_error", text, kReadOnly | of_plugin, "",
     "Why the last change of the configuration isn't in force"},
    {"dedicated_time", text, kReadOnly | of_plugin, "", "Whether it is dedicated time now"},
    {"migration_error", text, kReadOnly | of_plugin, "",
     "Why the old files were not taken over at the first start"},
    {"next_policy_change", text, kReadOnly | of_plugin, "",
     "When another policy comes into force next, which policy, and what kind of time begins then"},
    {"prime_time", text, kReadOnly | of_plugin, "", "Whether it is prime time now"},
    {"sched_config", text, kReadOnly | of_plugin, "",
     "The sched_config file that is used while no policy is assigned, and whether it is in force"},
    {"unsupported_settings", text, kReadOnly | of_plugin, "",
     "The settings of its policies that have no effect on this server"},
    // only in OpenPBS's server
    {"attr_update_period", integer, kManagerOnlySet | openpbs_only, "",
     "How many seconds there are at least between two updates of waiting jobs' comments"},
    {"do_not_span_psets", integer, kNoUserSet | openpbs_only | of_policies, "",
     "Whether a job that fits in no placement set waits"},
    {"job_run_wait", text, kManagerOnlySet | openpbs_only, "",
     "Which part of a job's start the scheduler waits for", kJobRunWaitWords},
    {"job_sort_formula", text, kManagerOnlySet | openpbs_only | of_policies, "",
     "Jobs run in descending order of this expression"},
    {"job_sort_formula_threshold", real, kManagerOnlySet | openpbs_only | of_policies, "",
     "Jobs for which the formula gives no more than this don't start; a policy has an attribute of this "
     "name"},
    {"log_events", integer, kNoUserSet | openpbs_only, "",
     "Which classes of events the scheduler logs: the sum of their bits"},
    {"only_explicit_psets", boolean, kNoUserSet | openpbs_only | of_policies, "",
     "Whether placement sets are made of the named values only"},
    {"opt_backfill_fuzzy", text, kManagerOnlySet | openpbs_only, "",
     "How coarsely times are computed for backfilling", kOptBackfillFuzzyWords},
    {"preempt_order", text, kManagerOnlySet | openpbs_only | of_policies, "",
     "How jobs are preempted; a policy has an attribute of this name"},
    {"preempt_prio", text, kManagerOnlySet | openpbs_only | of_policies, "",
     "The order of preemption levels; a policy has an attribute of this name"},
    {"preempt_queue_prio", integer, kManagerOnlySet | openpbs_only | of_policies, "",
     "From which priority on a queue is an express queue; a policy has an attribute of this "
     "name"},
    {"preempt_sort", text, kManagerOnlySet | openpbs_only | of_policies, "",
     "Which of several jobs is preempted first; a policy has an attribute of this name"},
    {"preempt_targets_enable", boolean, kManagerOnlySet | openpbs_only, "",
     "Whether jobs may name the jobs that they may preempt"},
    {"sched_cycle_length", integer, kNoUserSet | openpbs_only, "", "How many seconds a cycle may take"},
    {"sched_preempt_enforce_resumption", boolean, kManagerOnlySet | openpbs_only | of_policies, "",
     "Whether resources are reserved for suspended jobs, so that they can go on"},
    {"sched_user", text, kManagerOnlySet | openpbs_only, "", "The user that the scheduler runs as"},
    {"server_dyn_res_alarm", integer, kManagerOnlySet | openpbs_only | of_policies, "",
     "How many seconds a program of server_dyn_res may take; a policy has an attribute of this name"},
    {"throughput_mode", integer, kManagerOnlySet | openpbs_only, "",
     "Whether a cycle goes on without waiting until a job has started"},
});

}  // namespace

const AttributeTable& sched_table() {
    static constexpr AttributeTable kTable{kSchedRows};
    return kTable;
}

}  // namespace pbs::ifl
