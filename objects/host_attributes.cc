// The tables of the attributes that pbspolicy adds to the server, to queues and to scheds: PP-748, interfaces
// 2, 3 and 5.

#include "objects/attribute_tables.h"

namespace pbs::objects {
namespace {

using T = AttributeType;
using S = Syntax;

constexpr Attribute kServer[] = {
    {"non_work_days", T::string_array, S::rrule_list, "", plain,
     "Days on which time_windows with applies_on_holidays=False don't open, and those with "
     "only_on_holidays=True do: recurrences of RFC 5545, or MM/DD (every year) and MM/DD/YYYY (once), which "
     "are kept as the rules they stand for; each may be followed by SUMMARY: and its name",
     "set server non_work_days += \"12/25 SUMMARY:Christmas Day\""},
};

constexpr Attribute kQueue[] = {
    {"time_window",
     T::string_array,
     S::object_names,
     "",
     plain,
     "The time_windows in which jobs of the queue run; they must not overlap. Not set: always",
     "set queue q1 time_window = \"t1,t2\"",
     {},
     0,
     0,
     {},
     ObjectType::time_window},
    // A server that keeps execution_type itself has another row for it (ifl/attributes/queue_table.cc).
    {"execution_type",
     T::string,
     S::word,
     "",
     plain,
     "When jobs of the queue start: in prime time, outside it or in dedicated time only; not set: any time",
     "set queue q1 execution_type = execution_prime",
     {"execution", "execution_prime", "execution_non_prime", "execution_dedicated", "route"}},
};

constexpr Attribute kSched[] = {
    {"policy",
     T::string_array,
     S::policy_slots,
     "",
     plain,
     "The policies of the scheduler: one without a prefix for all time, and optionally one with p: for prime "
     "time and one with np: for non-prime time. Not set: the sched_config file in its sched_priv",
     "set sched default policy = \"p1,p:p2,np:p3\"",
     {},
     0,
     0,
     {},
     ObjectType::policy},
};

}  // namespace

std::span<const Attribute> server_attributes() {
    return kServer;
}
std::span<const Attribute> queue_attributes() {
    return kQueue;
}
std::span<const Attribute> sched_attributes() {
    return kSched;
}

}  // namespace pbs::objects
