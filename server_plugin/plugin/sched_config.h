// The sched_config file of schedulers without a policy (PP-748, interface 1): "unset sched <sched_name>
// policy ... will make scheduler read the sched_config file in the next iteration".
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

// The sched_config file of one scheduler, as last read.
struct SchedConfigFile {
    std::string path;
    FileVersion version{};
    std::uint64_t names = 0;  // SchedConfigs::names when it was read
    bool in_force = false;    // the scheduler was given policies
    bool there = false;       // they came from a file, not from the defaults
    // The policies that the scheduler was given: for all time, prime and non-prime time; null: as for all
    // time.
    std::array<objects::ObjectPtr, 3> policies{};
    // The first mistake in the file, and what is done instead: FILE:LINE:COLUMN: OPTION: what was expected.
    std::string error;
    std::set<std::string> said;            // notes already in the log
    std::vector<std::string> unsupported;  // settings that have no effect
};

struct SchedConfigs {
    std::map<std::string, SchedConfigFile, std::less<>> files;  // by scheduler
    std::map<std::uint64_t, std::string> queues;                // names by the host's handles
    std::set<std::string> consumables;                          // names of consumable resources
    std::set<std::string> others;                               // the site's resources that aren't consumable
    std::set<std::string> vnode_booleans;                       // of the above, booleans of vnodes
    std::uint64_t names = 0;                                    // grows with each change of these names

    migrate::Surroundings surroundings() const;
};

// Called before each cycle of a scheduler. If it has no policy assigned: reads sched_config in its sched_priv
// if the file has changed since the last cycle (or dedicated_prefix may mean other queues), and gives the
// scheduler the policies by it. Without a file these are the defaults of the old schedulers. A mistake in a
// line is treated as the schedulers of PBS and TORQUE did, which mostly left out the line: it is logged once,
// and the first mistake is kept for `list sched`. A file that can't be read or trusted, or is another
// scheduler's, changes nothing: the last good one stays in force, or the defaults if there was none. With a
// policy assigned the file is left alone.
//
// Managers, who need not be root, may have chosen sched_priv, and the server that reads may be root; mistakes
// in the file are shown to everybody. So it has to be a file that open_plain_file() takes, of root or the
// server's user, and not writable by others.
void refresh_sched_config(State& state, std::string_view sched);

}  // namespace pbs::plugin
