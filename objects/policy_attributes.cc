// The table of a policy's attributes: that of PP-748, interface 1, then every option of the Origin scheduler
// (sched-config guide) under its name in lower case, then the attributes that pbspolicy adds.

#include "objects/policy_attributes.h"

#include "objects/attribute_tables.h"
#include "objects/syntax_rows.h"

namespace pbs::objects {
namespace {

using enum Asks;

constexpr std::string_view kNoSuchQueue = "the queue has no special meaning";
constexpr double kMost = 2147483647;
constexpr double kMostTickets = 1e12;
constexpr std::string_view kWhatReadsTickets = "weighted_priority or job_sort_formula";

constexpr AttributeType type_of(Syntax syntax, unsigned flags) {
    if ((flags & shown_as_string) != 0) return AttributeType::string;
    return row_of(syntax).type;
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
