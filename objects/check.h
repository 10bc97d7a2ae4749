// Checks the meaning of the values in a draft, after value.h has checked their syntax: each value by itself,
// the attributes of an object together, and whether the objects that they name exist.
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
    const QueueNames* queues;  // names of the queues; null or nullopt: unknown, so they aren't checked
    // Takes a warning for each queue, resource or program that doesn't exist; null: these are errors.
    std::vector<std::string>* warnings;
    KeptWindows& windows;
    std::uint64_t patience;  // limit of work for check_windows(), in units of rrule::OverlapSearch::work()
    const std::atomic<bool>* end = nullptr;  // another thread sets it to end check_windows() early, with or
                                             // without errors
    bool provisions = false;                 // the server provisions vnodes
    std::string root_programs{};         // path of the list of programs for root (root_programs.h); empty: no
                                         // list
    bool keeps_execution_types = false;  // execution_type of queues is kept in the store; else the server
                                         // keeps it
    // The values come from the history, so they may be values that only earlier releases allowed. They aren't
    // refused, because the server has to be able to restore them when it takes a change back after a crash.
    bool of_the_past = false;
};

// Checks the meaning of one value: recurrences, formulas, programs, names of queues and resources. `before`
// is the value that it replaces, or null.
Result<void> check_value(const Attribute& attribute, const Value* before, const Value& value,
                         const CheckContext& context);

// Checks that the values of one object fit together: the policies of a sched, fairshare and its fs_group, the
// tree of an fs_group, the times of a time_window, the rules of a quota.
Result<void> check_object(const Object& object, const CheckContext& context);

// Checks that the server can do what the provision_policy of a policy says, if the change altered it.
// `before` is null for a new object.
Result<void> check_provisioning(const Object* before, const Object& after, const CheckContext& context);

// In check_weights.cc. Refuses two weights for one name, and weights of resources that aren't whole numbers,
// except those that `before` has already.
Result<void> check_weights(const Attribute& attribute, const Value* before, const StringList& weights);
// In check_weights.cc. Refuses too many thresholds, because a search for a place compares each vnode with all
// of them, and a threshold that is there twice.
Result<void> check_load_thresholds(const Attribute& attribute, const StringList& thresholds);
// In check_quota.cc. Refuses too many rules, and a rule_order with rules that the quota doesn't have.
Result<void> check_quota(const Object& quota);
// In check_quota.cc. Refuses a quota with a time_window of another type than standard, and another type of a
// time_window that a quota has, if the change altered it. `before` is null for a new object. Nothing is wrong
// with objects of other types.
Result<void> check_quota_windows(const Draft& draft, const Object* before, const Object& object);

// Returns the name in an element of a list of references, without the prefix p: or np:.
std::string_view referred_name(const Attribute& attribute, std::string_view element);

// Checks that all objects that the object refers to exist, and their types. `before` is null for a new
// object. Errors: bad_value, naming attribute and object.
Result<void> check_references(const Draft& draft, const Object* before, const Object& object);

// Checks that nothing refers to the object, so that it may be deleted. Errors: busy, naming what refers to
// it.
Result<void> check_unreferenced(const Draft& draft, ObjectType type, std::string_view name);

// Returns an error, busy, that names the first few of `users` and the number of the others; no error if
// `users` is empty.
Result<void> refuse_users(std::string_view type, std::string_view name, std::vector<std::string> users);

// Checks that the time_windows of each queue never overlap from now on. Compares only windows that the
// changes touch: windows with new times, windows new on a queue, and, after a change of non_work_days,
// windows that depend on them. Returns an error for each queue with an overlap: bad_value, naming the queue,
// two windows and the first instant at which both are open. If the comparison would take too long, the error
// is takes_long if context.patience is less than OverlapSearch::kLongWork, else bad_value.
std::vector<Error> check_windows(const Draft& draft, std::span<const ObjectChange> changes,
                                 const CheckContext& context);

}  // namespace pbs::objects
