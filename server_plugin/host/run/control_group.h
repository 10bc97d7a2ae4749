// Control groups (cgroup v2) of jobs: which processes are a job's is then what the kernel says, whatever they
// do to leave their session, their parent and their environment behind. Source: the kernel's
// admin-guide/cgroup-v2.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

// The folder of this process's own control group, in which it may make others, put processes into them and
// end these together: that is tried with a process that does nothing. What a process that was killed in such
// a try left there is removed. The error says what the machine doesn't permit.
Result<std::string> control_group_parent();

// The same folder, worked out from the texts of /proc/self/mountinfo and /proc/self/cgroup.
Result<std::string> own_control_group(std::string_view mounts, std::string_view groups);

// A group is known by its folder, an absolute path.
Result<void> make_control_group(const std::string& path);
// Whatever the process starts from now on is in the group too.
Result<void> enter_control_group(const std::string& path, pid_t process);
// The processes in it and in groups below it. None if it isn't there.
std::vector<pid_t> control_group_processes(const std::string& path);
// KILL to all of them at once, so that none can fork away (cgroup.kill, Linux 5.14; before, to each while all
// are frozen). They take a moment to go.
void kill_control_group(const std::string& path);
// Stops all processes in it, or lets them go on. False: it can't.
bool freeze_control_group(const std::string& path, bool frozen);
// With the groups below it, which a job of root's may have made. False if processes are in it.
bool remove_control_group(const std::string& path);

}  // namespace pbs::host
