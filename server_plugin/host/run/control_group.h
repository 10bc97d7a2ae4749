// Control groups (cgroup v2) of jobs. With them the kernel knows a job's processes, even if these leave their
// session, their parent and their environment behind. Source: the kernel's admin-guide/cgroup-v2.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

// The folder of this process's own control group, if the machine permits it to make groups there, put
// processes into them and end a group's processes together. That is tried with a process that does nothing;
// the leftovers of tries that were killed are removed. The error says what the machine doesn't permit.
Result<std::string> control_group_parent();

// Works out the same folder from the texts of /proc/self/mountinfo and /proc/self/cgroup.
Result<std::string> own_control_group(std::string_view mounts, std::string_view groups);

// Makes a group. A group is known by its folder, an absolute path.
Result<void> make_control_group(const std::string& path);
// Puts a process into the group; whatever the process starts from then on is in the group too.
Result<void> enter_control_group(const std::string& path, pid_t process);
// The processes in the group and in groups below it. Empty if the group doesn't exist.
std::vector<pid_t> control_group_processes(const std::string& path);
// Sends KILL to all processes of the group at once, so that none can fork away (cgroup.kill, Linux 5.14;
// before that, freezes them and sends it to each). The processes take a moment to end.
void kill_control_group(const std::string& path);
// Stops all processes of the group, or lets them go on. False: the kernel refuses it.
bool freeze_control_group(const std::string& path, bool frozen);
// Removes the group and the groups below it, which a job of root's may have made. False if processes are in
// it.
bool remove_control_group(const std::string& path);

}  // namespace pbs::host
