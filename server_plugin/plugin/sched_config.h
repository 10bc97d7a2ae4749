// The sched_config file of schedulers without a policy (PP-748, interface 1): "unset sched <sched_name>
// policy
// ... will make scheduler read the sched_config file in the next iteration".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/sched_policies.h"
#include "objects/snapshot.h"
#include "server_plugin/plugin/file.h"

namespace pbs::plugin {

struct State;

// What is known of the file of one scheduler.
struct SchedConfigFile {
    std::string path;
    FileVersion version{};
    std::uint64_t names = 0;  // SchedConfigs::names when it was read
    bool in_force = false;    // something was given to the scheduler
    bool there = false;       // that came of a file, not of the defaults
    // What was given: for all time, prime and non-prime time; null: as for all time.
    std::array<objects::ObjectPtr, 3> policies{};
    // Why it isn't used as it is, and what is done instead: FILE:LINE:COLUMN: OPTION: what was expected.
    std::string error;
    std::set<std::string> said;            // notes already in the log
    std::vector<std::string> unsupported;  // settings that aren't acted on
};

struct SchedConfigs {
    std::map<std::string, SchedConfigFile, std::less<>> files;  // by scheduler
    std::map<std::uint64_t, std::string> queues;                // names by the host's handles
    std::set<std::string> consumables;                          // names of consumable resources
    std::set<std::string> others;                               // the site's resources that aren't consumable
    std::set<std::string> vnode_booleans;                       // of these, booleans of vnodes
    std::uint64_t names = 0;                                    // grows with each change of these

    migrate::Surroundings surroundings() const;
};

// Before each cycle of a scheduler. Without a policy assigned to it: reads sched_config in its sched_priv if
// it is another than at the last cycle (or dedicated_prefix may mean other queues), and gives the scheduler
// what it says. Without a file these are the defaults of the old schedulers. What is wrong in a line is taken
// as the schedulers of PBS and TORQUE took it, which mostly left out the line: the log says it once, and the
// first mistake is kept for `list sched`. A file that can't be read or trusted, or is another scheduler's,
// changes nothing: the last good one stays in force, or the defaults if there was none. With a policy
// assigned the file is left alone.
//
// Managers, who need not be root, may have chosen sched_priv, and the server that reads may be root; what is
// wrong in the file is shown to everybody. So it has to be one that open_plain_file() takes, of root or the
// server's user, and not writable by others.
void refresh_sched_config(State& state, std::string_view sched);

}  // namespace pbs::plugin
