// Checks of a draft by meaning: after the forms (value.h) come what values say, how the attributes of an
// object fit together, and what objects refer to.
#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "objects/draft.h"
#include "objects/error.h"
#include "objects/resources.h"
#include "objects/windows.h"
#include "rrule/zone.h"

namespace pbs::objects {

struct CheckContext {
    const rrule::Zone& zone;
    const ResourceNames& resources;
    std::chrono::sys_seconds now;
    const QueueNames* queues;  // null: not known, not checked
    // Where queues, resources and programs that aren't there are told; null: they are errors.
    std::vector<std::string>* warnings;
    KeptWindows& windows;
    std::uint64_t patience;  // with check_windows(): rrule::OverlapSearch::work()
    const std::atomic<bool>* end =
        nullptr;                         // set by another thread: check_windows() ends, with errors or none
    bool provisions = false;             // the server provisions vnodes
    std::string root_programs{};         // the path of their list (root_programs.h); empty: there is none
    bool keeps_execution_types = false;  // of queues; else the server keeps them itself
};

// What one value says: recurrences, formulas, programs, names of queues and resources. `before` is the value
// it replaces, or null.
Result<void> check_value(const Attribute& attribute, const Value* before, const Value& value,
                         const CheckContext& context);

// How the values of one object fit together: the policy slots of a sched, fairshare and its group, the tree
// of an fs_group, the times of a time_window.
Result<void> check_object(const Object& object, const CheckContext& context);

// May the provision_policy of a policy be what it is? Null: the object wasn't there before. What it was
// before isn't checked again.
Result<void> check_provisioning(const Object* before, const Object& after, const CheckContext& context);

// The name in an element of a list of references, which may have p: or np: in front.
std::string_view referred_name(const Attribute& attribute, std::string_view element);

// Does all that the object refers to exist? Errors: bad_value, naming attribute and object.
Result<void> check_references(const Draft& draft, const Object& object);

// Does nothing refer to the object, so that it can go? Errors: busy, naming what refers to it.
Result<void> check_unreferenced(const Draft& draft, ObjectType type, std::string_view name);

// busy, with the first few of `users` and the number of the rest; nothing if there are none.
Result<void> refuse_users(std::string_view type, std::string_view name, std::vector<std::string> users);

// Do the time_windows of each queue stay apart after some changes, for all time from now on? Only those are
// compared that the changes touch: windows with other times or new on a queue, and with other non_work_days
// those that depend on them. bad_value for each queue where they don't, naming the queue, two windows and the
// first instant at which both are open; or that they would take too long to compare, which is takes_long if
// it is for want of patience.
std::vector<Error> check_windows(const Draft& draft, std::span<const ObjectChange> changes,
                                 const CheckContext& context);

}  // namespace pbs::objects
