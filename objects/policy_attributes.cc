// The table of a policy's attributes: that of PP-748, interface 1, then every option of the Origin scheduler
// (sched-config guide) under its name in lower case, then the attributes that pbspolicy adds.

#include "objects/policy_attributes.h"

#include "objects/attribute_tables.h"

namespace pbs::objects {
namespace {

using enum Asks;

constexpr std::string_view kNoSuchQueue = "the queue has no special meaning";
constexpr double kMost = 2147483647;
constexpr double kMostTickets = 1e12;
constexpr std::string_view kWhatReadsTickets = "weighted_priority or job_sort_formula";

constexpr AttributeType type_of(Syntax syntax, unsigned flags) {
    if ((flags & shown_as_string) != 0) return AttributeType::string;
    switch (syntax) {
        case Syntax::boolean:
            return AttributeType::boolean;
        case Syntax::boolean_or_date:
            return AttributeType::boolean_or_date;
        case Syntax::integer:
        case Syntax::percentage:
            return AttributeType::integer;
        case Syntax::real:
            return AttributeType::real;
        case Syntax::size:
            return AttributeType::size;
        case Syntax::duration:
            return AttributeType::duration;
        case Syntax::time_of_day:
            return AttributeType::time;
        case Syntax::object_name:
            return AttributeType::fs_group;
        case Syntax::queue_list:
        case Syntax::resource_list:
        case Syntax::node_sort_keys:
        case Syntax::place_sort_keys:
        case Syntax::job_sort_keys:
        case Syntax::resource_weights:
        case Syntax::load_weights:
        case Syntax::load_thresholds:
        case Syntax::word_weights:
        case Syntax::entity_weights:
        case Syntax::names:
        case Syntax::peer_queues:
        case Syntax::dynamic_resources:
        case Syntax::object_names:
            return AttributeType::string_array;
        default:
            return AttributeType::string;
    }
}

constexpr Attribute kPolicyTable[] = {
// clang-format off
#define ATTRIBUTE(row, form, text, acted_on, flag_bits, sentence, command, ...) \
    {.name = #row,                                                              \
     .type = type_of(Syntax::form, flag_bits),                                  \
     .syntax = Syntax::form,                                                    \
     .default_value = text,                                                     \
     .flags = flag_bits,                                                        \
     .help = sentence,                                                          \
     .example = "set policy p1 " command,                                       \
     __VA_ARGS__ __VA_OPT__(,)                                                  \
     .acts_with = ActsWith::acted_on},
#include "objects/policy_attributes.def"
    // clang-format on
};

}  // namespace

std::span<const Attribute> policy_attributes() {
    return kPolicyTable;
}

}  // namespace pbs::objects
