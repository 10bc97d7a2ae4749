// The table of the options of sched_config, and functions that read their values.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "migrate/arguments.h"
#include "migrate/sched_config.h"
#include "objects/value.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using A = SchedArgument;
using T = SchedTarget;

constexpr std::string_view kNasa = "only a scheduler built for NASA had it; there is no replacement";
constexpr std::string_view kMethods =
    "name the methods by their letters in preempt_order of the policy: S suspend, C checkpoint, R requeue";

constexpr SchedOption kOptions[] = {
    // The order of jobs
    {"round_robin", A::boolean, T::policy, "round_robin", by_time},
    {"by_queue", A::boolean, T::policy, "by_queue", by_time, "False"},
    {"strict_ordering", A::boolean, T::policy, "strict_ordering", by_time},
    {"strict_fifo", A::boolean, T::policy, "strict_ordering", by_time},
    {"help_starving_jobs", A::boolean, T::policy, "help_starving_jobs", by_time, "False"},
    {"max_starve", A::time, T::policy, "max_starve"},
    {"job_sort_key", A::job_sort_key, T::policy, "job_sort_key", by_time | repeats},
    {"sort_by", A::sort_by, T::policy, "job_sort_key", by_time | torque},
    {"key", A::key, T::policy, "job_sort_key", by_time | repeats | torque},
    {"sort_queues", A::boolean, T::removed, "", by_time, "",
     "by_queue of the policy always takes the queues by their priority"},
    {"ignore_queue", A::any, T::removed, "", repeats | torque, "",
     "set queue QUEUE started = False keeps its jobs from being started"},
    // Prime time and dedicated time
    {"backfill_prime", A::boolean, T::policy, "backfill_prime", by_time},
    {"prime_exempt_anytime_queues", A::boolean, T::policy, "prime_exempt_anytime_queues"},
    {"prime_spill", A::time, T::policy, "time_window_spill", by_time},
    {"primetime_prefix", A::prefix, T::removed, "", one_value, "",
     "the names of queues have no effect, the queue's execution_type is execution_prime instead"},
    {"nonprimetime_prefix", A::prefix, T::removed, "", one_value, "",
     "the names of queues have no effect, the queue's execution_type is execution_non_prime instead"},
    {"dedicated_prefix", A::prefix, T::policy, "dedicated_queues"},
    // Resources and vnodes
    {"resources", A::resources, T::policy, "exclude_resources", repeats},
    {"node_sort_key", A::node_sort_key, T::policy, "node_sort_key", by_time | repeats},
    {"sort_nodes", A::sort_nodes, T::policy, "node_sort_key", by_time},
    {"load_balancing", A::boolean, T::policy, "load_balancing", by_time},
    {"load_balancing_rr", A::boolean, T::removed, "", by_time, "",
     "a node_sort_key by an unused amount, such as ncpus HIGH unused, spreads the jobs"},
    {"cpus_per_ssinode", A::text, T::policy, "ssinode_cpus"},
    {"mem_per_ssinode", A::text, T::policy, "ssinode_mem"},
    {"assign_ssinodes", A::boolean, T::removed, "", one_value, "",
     "the number of a job's nodes follows from its CPUs and memory by ssinode_cpus and ssinode_mem of the "
     "policy"},
    {"smp_cluster_dist", A::distribution, T::removed, "", by_time, "",
     "it was deprecated already; jobs are packed, a node_sort_key by an unused amount, such as ncpus HIGH "
     "unused, spreads them"},
    {"provision_policy", A::text, T::policy, "provision_policy"},
    {"mom_resources", A::any, T::removed, "", repeats, "",
     "a periodic hook of the execution hosts can set the amounts of custom resources"},
    {"server_dyn_res", A::text, T::policy, "server_dyn_res", repeats},
    {"resource_unset_infinite", A::resources, T::removed, "", repeats, "",
     "set resources_available of the vnodes that are to have the resource"},
    {"node_group_key", A::any, T::removed, "", one_value, "",
     "node_group_key and node_group_enable are attributes of the server"},
    {"allow_aoe_calendar", A::any, T::removed, "", one_value, "",
     "vnodes are not provisioned for jobs that wait"},
    // Fairshare
    {"fair_share", A::boolean, T::policy, "fairshare", by_time},
    {"unknown_shares", A::integer, T::fs_group, "unknown_shares", one_value, "0"},
    {"fairshare_usage_res", A::text, T::fs_group, "usage_formula"},
    {"fairshare_entity", A::text, T::fs_group, "entity"},
    {"fairshare_decay_time", A::time, T::fs_group, "decay_time"},
    {"half_life", A::time, T::fs_group, "decay_time"},
    {"fairshare_decay_factor", A::factor, T::fs_group, "decay_factor"},
    {"fairshare_enforce_no_shares", A::boolean, T::fs_group, "enforce_no_shares", one_value, "True"},
    {"sync_time", A::time, T::removed, "", one_value, "", "usage is saved whenever it changes"},
    // Preemption
    {"preemptive_sched", A::boolean, T::policy, "preemption", by_time, "False"},
    {"preempt_queue_prio", A::integer, T::policy, "preempt_queue_prio"},
    {"preempt_prio", A::text, T::policy, "preempt_prio"},
    {"preempt_order", A::text, T::policy, "preempt_order"},
    {"preempt_sort", A::text, T::policy, "preempt_sort"},
    {"preempt_suspend", A::boolean, T::removed, "", by_time, "", kMethods},
    {"preempt_checkpoint", A::boolean, T::removed, "", by_time, "", kMethods},
    {"preempt_requeue", A::boolean, T::removed, "", by_time, "", kMethods},
    {"preempt_starving", A::boolean, T::removed, "", one_value, "",
     "name starving_jobs in preempt_prio of the policy, at the place that they are to have"},
    {"preempt_fairshare", A::boolean, T::removed, "", one_value, "",
     "name fairshare in preempt_prio of the policy, at the place that such jobs are to have"},
    {"dont_preempt_starving", A::boolean, T::removed, "", one_value, "",
     "name starving_jobs above normal_jobs in preempt_prio of the policy"},
    {"preempt_attempts", A::integer, T::removed, "", one_value, "",
     "there is no bound on the attempts of a cycle"},
    {"susp_threshold", A::any, T::removed, "", one_value, "", "there is no replacement"},
    // Other options
    {"backfill", A::backfill, T::policy, "backfill_depth", by_time},
    {"peer_queue", A::text, T::policy, "peer_queue", repeats},
    {"peer_translation", A::any, T::removed, "", repeats, "", "there is no replacement"},
    {"log_filter", A::log_filter, T::policy, "log_event"},
    {"opt_backfill_fuzzy_time", A::any, T::removed, "", one_value, "", "times of backfilled jobs are exact"},
    {"max_job_check", A::any, T::removed, "", one_value, "", "a cycle looks at every job"},
    {"update_comments", A::boolean, T::removed, "", one_value, "",
     "a job that waits always has a comment that says why"},
    {"resv_confirm_ignore", A::any, T::removed, "", one_value, "",
     "a reservation is wholly in dedicated time or not at all"},
    {"max_borrow", A::any, T::removed, "", one_value, "", kNasa},
    {"shares_track_only", A::any, T::removed, "", by_time, "", kNasa},
    {"per_share_depth", A::any, T::removed, "", one_value, "", kNasa},
    {"per_share_topjobs", A::any, T::removed, "", one_value, "", kNasa},
    {"per_queues_topjobs", A::any, T::removed, "", one_value, "", kNasa},
    {"min_interrupted_cycle_length", A::any, T::removed, "", one_value, "", kNasa},
    {"max_cons_interrupted_cycles", A::any, T::removed, "", one_value, "", kNasa},
};

using Read = tl::expected<std::string, std::string>;

Read expected(std::string what) {
    return tl::unexpected(std::move(what));
}

// An order that sort_by or key names, and its job_sort_key. With an empty one jobs stay in the order of
// submission.
struct Order {
    std::string_view name;
    std::string_view key;
};
constexpr Order kOrders[] = {
    {"no_sort", ""},
    {"shortest_job_first", "cput LOW"},
    {"longest_job_first", "cput HIGH"},
    {"smallest_memory_first", "mem LOW"},
    {"largest_memory_first", "mem HIGH"},
    {"high_priority_first", "job_priority HIGH"},
    {"low_priority_first", "job_priority LOW"},
    {"large_walltime_first", "walltime HIGH"},
    {"short_walltime_first", "walltime LOW"},
    {"fair_share", "fairshare_perc HIGH"},
    {"preempt_priority", "preempt_priority HIGH"},
};

Read read_order(std::string_view text, bool multi_sort) {
    for (const Order& order : kOrders)
        if (order.name == text) return std::string(order.key);
    if (multi_sort && text == "multi_sort") return std::string(text);
    std::string names;
    for (const Order& order : kOrders) names += fmt::format("{}, ", order.name);
    if (multi_sort) return expected(names + "or multi_sort");
    names.resize(names.size() - 2);
    return expected("one of " + names);
}

// Reads a boolean word or a number; nullopt: neither.
std::optional<bool> truth(std::string_view text) {
    if (values::same_word(text, "true")) return true;
    if (values::same_word(text, "false")) return false;
    const auto number = read_argument(ArgumentType::integer, text);
    if (!number) return std::nullopt;
    return *number != "0";
}

Read read_boolean(const SchedOption& option, std::string_view text) {
    const auto value = truth(text);
    if (!value) return expected("True or False");
    switch (option.argument) {
        case A::backfill:
            return std::string(*value ? "1" : "0");
        case A::sort_nodes:
            return std::string(*value ? "sort_priority HIGH" : "");
        default:
            return std::string(*value ? "True" : "False");
    }
}

Read read_log_filter(std::string_view text) {
    const auto number = read_argument(ArgumentType::integer, text);
    const long filter = number ? values::number<long>(*number).value_or(0) : 0;
    if (!number || filter > 65535)
        return expected("the sum of the bits of events not to be logged, such as 256");
    return std::to_string(kAllEvents & ~filter);
}

Read read_factor(std::string_view text) {
    const auto number = read_argument(ArgumentType::real, text);
    const double value = number ? values::decimal(*number).value_or(0) : 0;
    if (!number || value <= 0 || value >= 1) return expected("a number between 0 and 1, such as 0.5");
    return *number;
}

// Replaces an old name at the beginning of a job_sort_key by the present one.
std::string new_name(std::string_view key) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"sort_priority", "job_priority"},
        {"fair_share_perc", "fairshare_perc"},
    };
    for (const auto& [old, now] : kNames)
        if (key.starts_with(old)) return std::string(now) + std::string(key.substr(old.size()));
    return std::string(key);
}

bool name_character(char c) {
    return values::is_letter(c) || values::is_digit(c) || c == '_' || c == '-';
}

// Reads a list of resources, and returns it without blanks around names and without empty names.
Read read_resources(std::string_view text) {
    std::string names;
    std::string name;
    for (const char c : std::string(text) + ",") {
        if (name_character(c)) {
            name += c;
        } else if (c != ',' && c != ' ' && c != '\t') {
            return expected("names of resources separated by commas, such as \"ncpus, mem, arch\"");
        } else if (!name.empty()) {
            names += (names.empty() ? "" : ",") + name;
            name.clear();
        }
    }
    return names;
}

Read read_prefix(std::string_view text) {
    if (text.size() <= 15 &&
        std::all_of(text.begin(), text.end(), [](char c) { return name_character(c) || c == '.'; }))
        return std::string(text);
    return expected("the beginning of names of queues, at most 15 letters, digits, '-', '_' or '.'");
}

// Checks a text with the attribute's own parser, and returns it in canonical form. For a list the text is one
// element.
Read checked(const SchedOption& option, const std::string& text) {
    const objects::ObjectType type =
        option.target == T::fs_group ? objects::ObjectType::fs_group : objects::ObjectType::policy;
    const objects::Attribute& attribute = *objects::find_attribute(type, option.attribute);
    // Refuse quotes and commas in an element: they would split the list, and there is no way to escape them.
    if (attribute.is_list() && text.find_first_of(",\"'") != std::string::npos)
        return expected("one element without commas and quotes");
    const auto value = objects::parse_value(attribute, text);
    if (value) return objects::format_value(attribute, *value);
    return expected(objects::expected_text(attribute));
}

Read read_raw(const SchedOption& option, std::string_view text) {
    switch (option.argument) {
        case A::boolean:
        case A::backfill:
        case A::sort_nodes:
            return read_boolean(option, text);
        case A::integer:
            return read_argument(ArgumentType::integer, text);
        case A::log_filter:
            return read_log_filter(text);
        case A::time:
            return read_argument(ArgumentType::timespec, text);
        case A::factor:
            return read_factor(text);
        case A::job_sort_key:
            return new_name(text);
        case A::sort_by:
        case A::key:
            return read_order(text, option.argument == A::sort_by);
        case A::resources:
            return read_resources(text);
        case A::prefix:
            return read_prefix(text);
        case A::distribution:
            if (text != "pack" && text != "round_robin" && text != "lowest_load")
                return expected("pack, round_robin or lowest_load");
            return std::string(text);
        case A::text:
        case A::node_sort_key:
        case A::any:
            break;
    }
    return std::string(text);
}

// Returns whether values of this form are converted later, when the whole file and the server's names are
// known.
bool converted_later(SchedArgument argument) {
    return argument == A::resources || argument == A::prefix || argument == A::sort_by || argument == A::key;
}

bool is_switch(SchedArgument argument) {
    return argument == A::boolean || argument == A::backfill || argument == A::sort_nodes;
}

}  // namespace

std::optional<std::string> truth_of_any_word(const SchedOption& option, std::string_view text) {
    if (!is_switch(option.argument)) return std::nullopt;
    // Take the digits at the beginning as a number.
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const bool zero = digits > 0 && text.substr(0, digits).find_first_not_of('0') == std::string_view::npos;
    return std::string(zero ? "False" : "True");
}

std::span<const SchedOption> sched_options() {
    return kOptions;
}

tl::expected<std::string, std::string> read_sched_argument(const SchedOption& option, std::string_view text) {
    auto read = read_raw(option, text);
    if (!read || option.target == T::removed || converted_later(option.argument) || read->empty())
        return read;
    return checked(option, *read);
}

}  // namespace pbs::migrate
