// From a sched_config file to the attributes of policies (PP-748, interface 1).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "migrate/sched_config.h"
#include "objects/root_programs.h"
#include "objects/snapshot.h"

namespace pbs::migrate {

// What is known of the server whose files are converted.
struct Surroundings {
    std::vector<std::string> queues{};
    // Resources that jobs use up, beyond those that every PBS has.
    std::vector<std::string> consumables{};
    // Resources that they don't use up, beyond those that every PBS has.
    std::vector<std::string> others{};
    // Dedicated times that ended before it are left out; not set: none is.
    std::optional<std::chrono::sys_seconds> now{};
    // The server's scheduler is the one that the files are of, and acts on all that they say.
    bool same_scheduler = false;
    std::string home{};  // PBS_HOME; empty: the files are read by somebody else
    // Of `others`, booleans of vnodes (flag h). OpenPBS looks at these whether `resources` names them or not.
    std::vector<std::string> vnode_booleans{};
    // Elements of server_dyn_res whose programs run with root's rights.
    objects::RootPrograms root_programs{};

    // May the server be told of as one without the resources that aren't named here? Not where nobody has
    // asked it.
    bool knows_resources = true;

    // Is there this queue or resource? nullopt: it isn't known.
    std::optional<bool> has(objects::ObjectType type, std::string_view name) const;
};

// One attribute's value, and the line that it comes from.
struct SchedValue {
    std::string attribute;
    std::string value;   // canonical text
    std::string option;  // as it is named in the file; the attribute's option if the file doesn't have it
    int line = 0;        // of the first line; 0: the file says nothing, the old scheduler's default
};

struct SchedPolicies {
    // The attributes of the all-time policy: if prime and non-prime time differ, those of prime time, because
    // without a holidays file the old scheduler had prime time only.
    std::vector<SchedValue> all_time;
    // Empty unless they differ.
    std::vector<SchedValue> prime;
    std::vector<SchedValue> non_prime;
    // Of the fs_group that the policies use; empty: the file says nothing of fairshare. The policies then
    // have no fairshare_group.
    std::vector<SchedValue> fs_group;
    std::vector<std::string> notes;  // one for each removed option: why, and what to use instead
    // Names in `resources` beside those that every PBS has: exclude_resources doesn't keep them.
    std::vector<std::string> checked;

    bool by_time() const { return !prime.empty(); }
};

// Converts a file. An empty SchedConfig gives what the old schedulers did without one. Every policy has
// by_queue, help_starving_jobs and preemption, whose defaults the old schedulers had otherwise; `fs_group`
// names the fs_group in fairshare_group, which the policies have too if `shares` count that the file says
// nothing of: there is a tree of them, or a formula reads them. Problems: a list that is too long for its
// attribute.
Result<SchedPolicies> to_policies(const SchedConfig& file, const Surroundings& server,
                                  const std::string& fs_group, bool shares = false);

// The consumable resources that every PBS server has, and those of the Origin scheduler.
std::vector<std::string> usual_consumables();

// The policy object with these values.
objects::Object policy_object(const std::string& name, const std::vector<SchedValue>& values);

}  // namespace pbs::migrate
