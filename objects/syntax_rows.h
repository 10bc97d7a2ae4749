// The syntaxes of attributes, with a row each. Internal to objects/.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "objects/schema.h"

namespace pbs::objects {

struct SyntaxRow {
    Syntax syntax;
    AttributeType type;  // the type of an attribute of this syntax, unless the attribute has another one
    // The expected form, for error messages: {} is replaced by the words that the attribute takes, or by the
    // type of the objects that it names. For a number, expected_text() appends the range.
    std::string_view expected;
};

consteval auto syntax_rows() {
    using enum Syntax;
    using Type = AttributeType;
    return std::to_array<SyntaxRow>({
        {boolean, Type::boolean, "True or False"},
        {boolean_or_date, Type::boolean_or_date,
         "True, False, or the date MM/DD/YYYY[@HH:MM:SS] from which it is True"},
        {integer, Type::integer, "a whole number"},
        {percentage, Type::integer, "a percentage"},
        {real, Type::real, "a number"},
        {size, Type::size, "a size such as 512mb: digits, then b, kb, mb, gb, tb or w, kw, mw, gw, tw"},
        {duration, Type::duration, "a duration as HH:MM:SS or in seconds"},
        {time_of_day, Type::time, "a time of day as HH:MM, HH:MM:SS or HHMM, up to 24:00"},
        {variance, Type::string, "a variance such as -15%,+10%"},
        {text, Type::string, "text on one line"},
        {word, Type::string, "one of {}"},
        {pathname, Type::string, "the path of a file or directory"},
        {output_file, Type::string, "the name of a file, without a folder"},
        {program, Type::string, "the absolute path of a program"},
        {host, Type::string, "a host name"},
        {formula, Type::string, "an arithmetic expression such as ncpus*walltime"},
        {rrule, Type::string, "a recurrence (RFC 5545) such as FREQ=WEEKLY;BYDAY=MO,TU"},
        {preempt_order, Type::string,
         "one or more of the letters S, C, R and D, optionally followed by pairs of a falling percentage and "
         "an order, such as SCR 70 SC 30"},
        {preempt_prio, Type::string,
         "levels separated by commas, each one or more of starving_jobs, express_queue, fairshare, "
         "queue_softlimits, server_softlimits and normal_jobs joined by +"},
        {queue, Type::string, "a queue, or queue@host"},
        {object_name, Type::fs_group, "the name of one {}"},
        {queue_list, Type::string_array, "queues, or queue@host, separated by commas"},
        {resource_list, Type::string_array, "names of resources separated by commas"},
        {node_sort_keys, Type::string_array,
         "elements separated by commas, each a resource, sort_priority or load_formula, then HIGH or LOW, "
         "then for a resource optionally total, assigned or unused"},
        {place_sort_keys, Type::string_array,
         "elements separated by commas, each one of {}, then : and keys as in node_sort_key, with + between "
         "them, such as scatter: ncpus HIGH unused + mem LOW"},
        {job_sort_keys, Type::string_array,
         "elements separated by commas, each a resource, job_priority, fairshare_perc or preempt_priority, "
         "then HIGH or LOW"},
        {resource_weights, Type::string_array,
         "elements separated by commas, each a resource, = and a whole number of at least 0"},
        {load_weights, Type::string_array,
         "elements separated by commas, each load_avg, np_load_avg, a resource or np_RESOURCE, = and a "
         "number of at least 0"},
        {load_thresholds, Type::string_array,
         "elements separated by commas, each load_avg, np_load_avg, a resource or np_RESOURCE, with QUEUE: "
         "before it or without, then one of >=, >, <= and <, and a number"},
        {word_weights, Type::string_array,
         "elements separated by commas, each one of {}, then = and a number of at least 0"},
        {entity_weights, Type::string_array,
         "elements separated by commas, each [u:NAME=NUMBER], or with g:, p: or q: for a group, project or "
         "queue; the name PBS_GENERIC is everybody without a number of their own"},
        {peer_queues, Type::string_array,
         "elements separated by commas, each a local queue and a queue@server"},
        {dynamic_resources, Type::string_array,
         "elements separated by commas, each a resource and !/path/of/program"},
        {tree_elements, Type::string,
         "elements separated by commas, each name:parent=shares, such as group01:root=30"},
        {quota_rules, Type::string,
         "users=LIST groups=LIST projects=LIST queues=LIST vnodes=LIST shapes=LIST to RESOURCE=LIMIT, all "
         "but the last optional, as in users={*} queues=long to ncpus=4"},
        {names, Type::string_array, "names separated by commas"},
        {rrule_list, Type::string, "recurrences (RFC 5545), MM/DD or MM/DD/YYYY, separated by commas"},
        {object_names, Type::string_array, "names of {} objects separated by commas"},
        {policy_slots, Type::string,
         "up to three policies separated by commas: one without a prefix, one with p:, one with np:"},
    });
}
inline constexpr auto kSyntaxRows = syntax_rows();

// Row n is that of syntax number n. A syntax without a row doesn't compile.
static_assert(kSyntaxRows.size() == static_cast<std::size_t>(kLastSyntax) + 1);
static_assert(std::ranges::is_sorted(kSyntaxRows, std::ranges::less_equal{}, &SyntaxRow::syntax));

constexpr const SyntaxRow& row_of(Syntax syntax) {
    return kSyntaxRows[static_cast<std::size_t>(syntax)];
}

}  // namespace pbs::objects
