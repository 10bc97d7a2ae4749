// The attributes of schedulers; policy is in objects/.

#include "ifl/cmds/host_attribute_tables.h"

namespace pbs::cmds {

namespace {

using enum HostType;
using enum Setter;
using enum Where;

constexpr std::string_view kJobRunWait[] = {"none", "runjob_hook", "execjob_hook"};
constexpr std::string_view kOptBackfillFuzzy[] = {"off", "low", "med", "high"};

constexpr HostAttribute kTable[] = {
    {"active_policy", text, nobody, here, "", "The policy that is in force now"},
    {"attr_update_period", integer, managers, openpbs, "",
     "How many seconds there are at least between two updates of waiting jobs' comments"},
    {"comment", text, managers, here, "", "A remark, for people"},
    {"configuration_error", text, nobody, here, "",
     "Why the last change of the configuration isn't in force"},
    {"dedicated_time", text, nobody, here, "", "Whether it is dedicated time now"},
    {"do_not_span_psets", integer, operators, openpbs, "",
     "Whether a job that fits in no placement set waits"},
    {"job_run_wait", text, managers, openpbs, "", "How far the start of a job is waited for", kJobRunWait},
    {"job_sort_formula", text, managers, openpbs, "", "Jobs run in descending order of this expression"},
    {"job_sort_formula_threshold", real, managers, openpbs, "",
     "Jobs below this value of the formula don't run"},
    {"log_events", integer, operators, openpbs, "",
     "Which classes of events the scheduler logs: the sum of their bits"},
    {"migration_error", text, nobody, here, "", "Why the old files were not taken over at the first start"},
    {"next_policy_change", text, nobody, here, "",
     "When the next policy comes into force, which it is, and what time it will be then"},
    {"only_explicit_psets", boolean, operators, openpbs, "",
     "Whether placement sets are made of the named values only"},
    {"opt_backfill_fuzzy", text, managers, openpbs, "", "How exactly backfilling reckons", kOptBackfillFuzzy},
    {"partition", text, managers, here, "",
     "The queues and vnodes with this partition are the scheduler's; the default one has those without"},
    {"preempt_order", text, managers, openpbs, "",
     "How jobs are preempted; a policy has an attribute of this name"},
    {"preempt_prio", text, managers, openpbs, "",
     "The order of preemption levels; a policy has an attribute of this name"},
    {"preempt_queue_prio", integer, managers, openpbs, "",
     "From which priority on a queue is an express queue; a policy has an attribute of this name"},
    {"preempt_sort", text, managers, openpbs, "",
     "Which of several jobs is preempted first; a policy has an attribute of this name"},
    {"preempt_targets_enable", boolean, managers, openpbs, "", "Whether jobs may name what they may preempt"},
    {"prime_time", text, nobody, here, "", "Whether it is prime time now"},
    {"sched_config", text, nobody, here, "",
     "The sched_config file that is looked at while no policy is assigned, and whether it is in force"},
    {"sched_cycle_length", integer, operators, openpbs, "", "After how many seconds a cycle is ended"},
    {"sched_host", text, nobody, here, "", "The host of the scheduler"},
    {"sched_log", text, managers, here, "",
     "The folder of the scheduler's log. Not acted on: all schedulers write to the server's log"},
    {"sched_preempt_enforce_resumption", boolean, managers, openpbs, "",
     "Whether suspended jobs are backfilled around"},
    {"sched_priv", text, managers, here, "",
     "The folder of the scheduler's files: sched_config is read there if no policy is assigned"},
    {"sched_user", text, managers, openpbs, "", "The user as whom the scheduler runs"},
    {"scheduler_iteration", integer, managers, here, "600",
     "How many seconds there are at most between two cycles"},
    {"scheduling", boolean, managers, here, "True",
     "Whether the scheduler starts jobs; the default one's is the server's, that of a new one is False"},
    {"server_dyn_res_alarm", integer, managers, openpbs, "",
     "For how many seconds a program of server_dyn_res is waited for"},
    {"state", text, nobody, here, "", "What the scheduler does: idle, scheduling or down"},
    {"throughput_mode", integer, managers, openpbs, "",
     "Whether a cycle goes on before the start of a job is known"},
    {"unsupported_settings", text, nobody, here, "", "What its policies ask for that this server doesn't do"},
};

}  // namespace

std::span<const HostAttribute> sched_attributes() {
    return kTable;
}

}  // namespace pbs::cmds
