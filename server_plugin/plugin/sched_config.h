// Reads the sched_config file of schedulers without a policy (OpenPBS's design document PP-748, interface 1):
// "unset sched <sched_name> policy ... will make scheduler read the sched_config file in the next iteration".
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
    std::uint64_t names = 0;  // SchedConfigs::names when the file was read
    bool in_force = false;    // the scheduler uses `policies`
    bool there = false;       // `policies` came from the file, not from the defaults
    // The scheduler's policies, made of the file: for all time, for prime and for non-prime time. Null for
    // the last two: as for all time.
    std::array<objects::ObjectPtr, 3> policies{};
    // The first mistake in the file, with the value that was expected: FILE:LINE:COLUMN: OPTION: ...
    std::string error;
    std::set<std::string> said;            // notes on the file that have been logged
    std::vector<std::string> unsupported;  // settings that have no effect
};

struct SchedConfigs {
    std::map<std::string, SchedConfigFile, std::less<>> files;  // by scheduler
    std::map<std::uint64_t, std::string> queues;                // names by the host's handles
    std::set<std::string> consumables;                          // names of consumable resources
    std::set<std::string> others;                               // the site's resources that aren't consumable
    std::set<std::string> vnode_booleans;                       // booleans of vnodes in `others`
    std::uint64_t names = 0;                                    // grows with each change of the names above

    migrate::Surroundings surroundings() const;
};

// Called before each cycle of a scheduler. Does nothing if the scheduler has a policy assigned. Else reads
// sched_config in its sched_priv, if the file has changed since the last cycle or the names of queues and
// resources have, and hands the resulting policies to the scheduler. Without a file these are the defaults of
// the old schedulers. A line with a mistake is treated as by the schedulers of PBS and TORQUE, which mostly
// ignored it: the mistake is logged once, and the first one appears in `list sched`. A file that can't be
// read or trusted, or that belongs to another scheduler, changes nothing: the last good file stays in force,
// or else the defaults.
//
// Managers, who need not be root, may have chosen sched_priv, but the server may read as root, and mistakes
// in the file are shown to everybody. So open_plain_file() has to accept the file, and it has to belong to
// root or the server's user, and not be writable by others.
void refresh_sched_config(State& state, std::string_view sched);

}  // namespace pbs::plugin
