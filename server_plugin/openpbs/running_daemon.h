// The pbs_policyd that runs already when another one is started, as /proc and its socket show it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace pbs::openpbs {

// Returns the id of the process that listens on the socket; 0: it is in another namespace of processes;
// nullopt: no process listens there.
std::optional<pid_t> listener_of(const std::string& socket_path);

// Returns whether the process exists and has not ended.
bool executes(pid_t pid);

// Returns the path of pbs_policy.so that is installed with the program `program`, a path.
std::string plugin_of_program(const std::string& program);

// Returns how a running pbs_policyd differs from this process, as a clause: it executes another file, was
// started for another plugin than `plugin`, or has loaded a plugin that was replaced since. Empty: it doesn't
// differ, or `pid` is 0.
std::string difference_of(pid_t pid, const std::string& plugin);

}  // namespace pbs::openpbs
