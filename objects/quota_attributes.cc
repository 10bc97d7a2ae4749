// The table of a quota's attributes.

#include "objects/attribute_tables.h"

namespace pbs::objects {
namespace {

using T = AttributeType;
using S = Syntax;

constexpr Attribute kQuotaTable[] = {
    {"enabled", T::boolean, S::boolean, "False", plain,
     "Whether the quota limits anything; use is counted all the same", "set quota q1 enabled = True"},
    {"rule", T::string_array, S::quota_rules, "", plain,
     "A rule, by its name: whose jobs it is about, where, and the most that they may use together. The first "
     "rule that matches a job on a vnode counts it and limits it",
     "set quota q1 rule.guests = \"users={*} queues={long} to ncpus=4\""},
    {"rule_order", T::string_array, S::names, "", plain,
     "The names of rules in the order in which they are asked. Rules that aren't named come after these, in "
     "the "
     "order in which they were made",
     "set quota q1 rule_order = \"vip,guests\""},
    {"time_window",
     T::string_array,
     S::object_names,
     "",
     plain,
     "Time_windows of type standard; the limits hold while one of them is open. Not set: always",
     "set quota q1 time_window = office",
     {},
     0,
     9e15,
     {},
     ObjectType::time_window},
    {"spill", T::boolean, S::boolean, "True", plain,
     "True: a job that starts outside of the time_windows may run into them. False: it starts only if it "
     "meets the limits in all of them during its walltime",
     "set quota q1 spill = False"},
    {"exempt_reservations", T::boolean, S::boolean, "True", plain,
     "Jobs in queues of reservations are neither limited nor counted",
     "set quota q1 exempt_reservations = False"},
    {"comment", T::string, S::text, "", operator_sets, "A remark, for people",
     "set quota q1 comment=\"Agreed in the users' meeting\""},
    {"in_force", T::string_array, S::names, "", kReadOnly,
     "The schedulers whose policy in force names the quota now. Can't be set", "list quota q1 in_force"},
};

}  // namespace

std::span<const Attribute> quota_attributes() {
    return kQuotaTable;
}

}  // namespace pbs::objects
