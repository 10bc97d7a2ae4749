// Which settings aren't acted on yet.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "server_plugin/scheduler/formula.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched {
namespace {

struct Missing {
    std::string_view attribute;
    std::string_view why;
};

// To be taken out one by one as the options are built.
constexpr std::array missing = {
    Missing{"node_sort_key", "vnodes are tried by priority, then in the order in which they were made"},
    Missing{"provision_policy", "vnodes are not provisioned"},
    Missing{"exclude_resources", "all resources are checked"},
    Missing{"load_balancing", "the load of hosts is not looked at"},
    Missing{"fairshare", "jobs are not ordered by shares"},
    Missing{"preemption", "no job is preempted"},
    Missing{"preempt_queue_prio", "no job is preempted"},
    Missing{"preempt_prio", "no job is preempted"},
    Missing{"preempt_order", "no job is preempted"},
    Missing{"preempt_sort", "no job is preempted"},
    Missing{"peer_queue", "no jobs are pulled from other servers"},
    Missing{"server_dyn_res", "the programs are not run"},
    Missing{"log_event", "the server's log_events chooses what is logged"},
    Missing{"background_queue_name", "the queue has no special meaning"},
    Missing{"challenge_queue_name", "the queue has no special meaning"},
    Missing{"server_host", "the scheduler is part of the server"},
};

// Options that the guide says need another one ("required").
struct Needs {
    std::string_view attribute;
    std::string_view needed;
};
constexpr std::array needs = {
    Needs{"dedicated_time_command", "enforce_dedicated_time"},
    Needs{"dedicated_time_cache_secs", "dedicated_time_command"},
    Needs{"system_name", "dedicated_time_command"},
    Needs{"sched_host", "sched_restart_action"},
    Needs{"enforce_allocation", "sched_acct_dir"},
    Needs{"sched_acct_dir", "enforce_allocation"},
    Needs{"oa_decay_factor", "enforce_allocation"},
    Needs{"manage_hpm_counters", "hpm_ctl"},
    Needs{"hpm_ctl", "manage_hpm_counters"},
    Needs{"revoke_hpm_counters", "manage_hpm_counters"},
};

// A setting that asks for nothing: False, what is the default anyway, or without a default 0 and `none`.
// (preemption's default asks for something, so that setting it says that it is wanted.)
bool asks_for_nothing(const objects::Attribute& attribute, const std::string& value) {
    if (value == "False") return true;
    if (attribute.name == "preemption") return false;
    if (attribute.default_value.empty()) return value == "0" || value == "none";
    return value == attribute.default_value;
}

void check_order(const objects::Object& policy, std::vector<std::string>& lines) {
    for (const std::string& key : policy.list("job_sort_key"))
        if (key.starts_with("fairshare_perc") || key.starts_with("preempt_priority"))
            lines.push_back(fmt::format("policy {}: job_sort_key {} is not acted on", policy.name(), key));
    const std::string text(policy.text("job_sort_formula"));
    if (text.empty()) return;
    auto formula = Formula::compile(text);
    if (!formula) return;
    for (const std::string& name : formula->unsupported())
        lines.push_back(fmt::format("policy {}: {} in job_sort_formula counts as 0", policy.name(), name));
}

void check_policy(const objects::Object& policy, std::vector<std::string>& lines) {
    for (const auto& [index, value] : policy.values()) {
        const auto& attribute = objects::attributes(objects::ObjectType::policy)[index];
        const auto found = std::ranges::find(missing, attribute.name, &Missing::attribute);
        if (asks_for_nothing(attribute, objects::format_value(attribute, value))) continue;
        for (const auto& [name, needed] : needs)
            if (name == attribute.name && !policy.is_set(needed))
                lines.push_back(
                    fmt::format("policy {}: {} is not acted on without {}", policy.name(), name, needed));
        if (found == missing.end()) continue;
        lines.push_back(
            fmt::format("policy {}: {} is not acted on: {}", policy.name(), attribute.name, found->why));
    }
    if (policy.integer("fake_machine_mult") > 1 && !policy.is_set("test_only"))
        lines.push_back(
            fmt::format("policy {}: fake_machine_mult is not acted on without test_only", policy.name()));
    check_order(policy, lines);
}

}  // namespace

std::vector<std::string> unsupported_settings(const objects::Object& policy) {
    std::vector<std::string> lines;
    check_policy(policy, lines);
    return lines;
}

}  // namespace pbs::sched
