#include "objects/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "objects/attribute_tables.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

struct Table {
    ObjectType type;
    std::span<const Attribute> (*rows)();
};

constexpr Table kTables[] = {
    {ObjectType::server, server_attributes},
    {ObjectType::queue, queue_attributes},
    {ObjectType::sched, sched_attributes},
    {ObjectType::policy, policy_attributes},
    {ObjectType::time_window, time_window_attributes},
    {ObjectType::fs_group, fs_group_attributes},
    {ObjectType::quota, quota_attributes},
};

}  // namespace

std::span<const Attribute> attributes(ObjectType type) {
    const auto* table = std::ranges::find(kTables, type, &Table::type);
    return table == std::end(kTables) ? std::span<const Attribute>{} : table->rows();
}

const Attribute* find_attribute(ObjectType type, std::string_view name) {
    if (name.empty()) return nullptr;
    for (const Attribute& attribute : attributes(type)) {
        if (values::same_word(attribute.name, name) || values::same_word(attribute.alias, name))
            return &attribute;
    }
    return nullptr;
}

std::size_t attribute_index(ObjectType type, const Attribute& attribute) {
    return static_cast<std::size_t>(&attribute - attributes(type).data());
}

std::optional<ObjectType> type_from_word(std::string_view word) {
    const values::ObjectTypeRow* row = values::type_meant(word);
    return row == nullptr ? std::nullopt : std::optional(row->type);
}

std::string object_title(ObjectType type, std::string_view name) {
    return name.empty() ? std::string(type_name(type)) : fmt::format("{} {}", type_name(type), name);
}

std::string_view type_text(AttributeType type) {
    switch (type) {
        case AttributeType::boolean:
            return "Boolean";
        case AttributeType::boolean_or_date:
            return "Boolean or date";
        case AttributeType::integer:
            return "integer";
        case AttributeType::real:
            return "float";
        case AttributeType::size:
            return "size";
        case AttributeType::duration:
            return "duration";
        case AttributeType::time:
            return "time";
        case AttributeType::string:
            return "string";
        case AttributeType::string_array:
            return "string_array";
        case AttributeType::fs_group:
            return "fs_group";
    }
    return "";
}

namespace {

std::string expected_number(const Attribute& attribute, std::string_view kind) {
    if (attribute.maximum >= 9e15) return fmt::format("{} of at least {}", kind, attribute.minimum);
    return fmt::format("{} from {} to {:.0f}", kind, attribute.minimum, attribute.maximum);
}

}  // namespace

std::string expected_text(const Attribute& attribute) {
    switch (attribute.syntax) {
        case Syntax::boolean:
            return "True or False";
        case Syntax::boolean_or_date:
            return "True, False, or the date MM/DD/YYYY[@HH:MM:SS] from which it is True";
        case Syntax::integer:
            return expected_number(attribute, "a whole number");
        case Syntax::percentage:
            return expected_number(attribute, "a percentage");
        case Syntax::real:
            return expected_number(attribute, "a number");
        case Syntax::size:
            return "a size such as 512mb: digits, then b, kb, mb, gb, tb or w, kw, mw, gw, tw";
        case Syntax::duration:
            return "a duration as HH:MM:SS or in seconds";
        case Syntax::time_of_day:
            return "a time of day as HH:MM, HH:MM:SS or HHMM, up to 24:00";
        case Syntax::variance:
            return "a variance such as -15%,+10%";
        case Syntax::text:
            return "text on one line";
        case Syntax::word:
            return fmt::format("one of {}", fmt::join(attribute.words, ", "));
        case Syntax::pathname:
            return "the path of a file or directory";
        case Syntax::output_file:
            return "the name of a file, without a folder";
        case Syntax::program:
            return "the absolute path of a program";
        case Syntax::host:
            return "a host name";
        case Syntax::formula:
            return "an arithmetic expression such as ncpus*walltime";
        case Syntax::rrule:
            return "a recurrence (RFC 5545) such as FREQ=WEEKLY;BYDAY=MO,TU";
        case Syntax::preempt_order:
            return "one or more of the letters S, C, R and D, optionally followed by pairs of a falling "
                   "percentage "
                   "and an order, such as SCR 70 SC 30";
        case Syntax::preempt_prio:
            return "levels separated by commas, each one or more of starving_jobs, express_queue, fairshare, "
                   "queue_softlimits, server_softlimits and normal_jobs joined by +";
        case Syntax::queue:
            return "a queue, or queue@host";
        case Syntax::object_name:
            return fmt::format("the name of one {}",
                               type_name(attribute.refers_to.value_or(ObjectType::policy)));
        case Syntax::queue_list:
            return "queues, or queue@host, separated by commas";
        case Syntax::resource_list:
            return "names of resources separated by commas";
        case Syntax::node_sort_keys:
            return "elements separated by commas, each a resource, sort_priority or load_formula, then HIGH "
                   "or "
                   "LOW, then for a resource optionally total, assigned or unused";
        case Syntax::place_sort_keys:
            return fmt::format(
                "elements separated by commas, each one of {}, then : and keys as in node_sort_key, with + "
                "between them, such as scatter: ncpus HIGH unused + mem LOW",
                fmt::join(attribute.words, ", "));
        case Syntax::job_sort_keys:
            return "elements separated by commas, each a resource, job_priority, fairshare_perc or "
                   "preempt_priority, then HIGH or LOW";
        case Syntax::word_weights:
            return fmt::format(
                "elements separated by commas, each one of {}, then = and a number of at least 0",
                fmt::join(attribute.words, ", "));
        case Syntax::entity_weights:
            return "elements separated by commas, each [u:NAME=NUMBER], or with g:, p: or q: for a group, "
                   "project or queue; the name PBS_GENERIC is everybody without a number of their own";
        case Syntax::resource_weights:
            return "elements separated by commas, each a resource, = and a number of at least 0";
        case Syntax::load_weights:
            return "elements separated by commas, each load_avg, np_load_avg, a resource or np_RESOURCE, = "
                   "and "
                   "a number of at least 0";
        case Syntax::load_thresholds:
            return "elements separated by commas, each load_avg, np_load_avg, a resource or np_RESOURCE, "
                   "with "
                   "QUEUE: before it or without, then one of >=, >, <= and <, and a number";
        case Syntax::peer_queues:
            return "elements separated by commas, each a local queue and a queue@server";
        case Syntax::dynamic_resources:
            return "elements separated by commas, each a resource and !/path/of/program";
        case Syntax::quota_rules:
            return "users=LIST groups=LIST projects=LIST queues=LIST vnodes=LIST shapes=LIST to "
                   "RESOURCE=LIMIT, all "
                   "but the last optional, as in users={*} queues=long to ncpus=4";
        case Syntax::names:
            return "names separated by commas";
        case Syntax::tree_elements:
            return "elements separated by commas, each name:parent=shares, such as group01:root=30";
        case Syntax::rrule_list:
            return "recurrences (RFC 5545), MM/DD or MM/DD/YYYY, separated by commas";
        case Syntax::object_names:
            return fmt::format("names of {} objects separated by commas",
                               type_name(attribute.refers_to.value_or(ObjectType::policy)));
        case Syntax::policy_slots:
            return "up to three policies separated by commas: one without a prefix, one with p:, one with "
                   "np:";
    }
    return "";
}

}  // namespace pbs::objects
