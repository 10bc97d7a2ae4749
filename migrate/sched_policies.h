// Converts a sched_config file to attributes of policies (PP-748, interface 1).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "migrate/sched_config.h"
#include "objects/root_programs.h"
#include "objects/snapshot.h"

namespace pbs::migrate {

// Facts about the server for which the files are converted.
struct Surroundings {
    std::vector<std::string> queues{};
    // Consumable resources, beyond those that every PBS has.
    std::vector<std::string> consumables{};
    // Other resources, beyond those that every PBS has.
    std::vector<std::string> others{};
    // Dedicated times that ended before this time are left out; not set: all are kept.
    std::optional<std::chrono::sys_seconds> now{};
    // True: the server's scheduler is pbs_sched, these are its own files, and it still acts on all of their
    // options.
    bool same_scheduler = false;
    // False: the server keeps its own objects, such as queues, as they are, and carries out no directive of a
    // print.
    bool carries_out = true;
    std::string home{};  // PBS_HOME; empty: somebody other than the server reads the files
    // Booleans of vnodes (flag h) among `others`. OpenPBS checks them even if `resources` doesn't name them.
    std::vector<std::string> vnode_booleans{};
    // Elements of server_dyn_res whose programs may run with root's rights.
    objects::RootPrograms root_programs{};

    // True: the lists of resources above are complete. False: the server wasn't asked.
    bool knows_resources = true;

    // Returns whether the server has this queue or resource. nullopt: unknown.
    std::optional<bool> has(objects::ObjectType type, std::string_view name) const;
};

// A value of an attribute, with the line that it comes from.
struct SchedValue {
    std::string attribute;
    std::string value;   // in canonical form
    std::string option;  // the option in the file; if the file doesn't have it, the option for the attribute
    int line = 0;        // first line; 0: none, the value is the old scheduler's default
};

struct SchedPolicies {
    // Attributes of the all-time policy. If prime and non-prime time differ, these are the ones of prime
    // time, because pbs_sched had prime time only unless a holidays file said otherwise.
    std::vector<SchedValue> all_time;
    // Attributes for prime and non-prime time; empty unless they differ.
    std::vector<SchedValue> prime;
    std::vector<SchedValue> non_prime;
    // Attributes of the fs_group that the policies use. Empty: the file says nothing of fairshare, and the
    // policies have no fairshare_group.
    std::vector<SchedValue> fs_group;
    std::vector<std::string> notes;  // a note for each removed option: the reason, and the replacement
    // Names in the option `resources` of resources that not every PBS has. They are kept for an export, as
    // exclude_resources doesn't have them.
    std::vector<std::string> checked;

    bool by_time() const { return !prime.empty(); }
};

// Converts a file. An empty SchedConfig gives the old schedulers' behaviour without one. Every policy sets
// by_queue, help_starving_jobs and preemption, whose defaults differed in the old schedulers. `fs_group` is
// the name for fairshare_group. With `shares` the policies have that attribute even if the file says nothing
// of fairshare: a resource_group exists, or a formula reads shares. Problems: a list that is too long for its
// attribute.
Result<SchedPolicies> to_policies(const SchedConfig& file, const Surroundings& server,
                                  const std::string& fs_group, bool shares = false);

// Returns the names of all built-in resources that are consumable, sorted.
std::vector<std::string> usual_consumables();

// Makes a policy object of these values.
objects::Object policy_object(const std::string& name, const std::vector<SchedValue>& values);

}  // namespace pbs::migrate
