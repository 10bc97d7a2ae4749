// Control groups (cgroup v2) of jobs. By them the kernel knows a job's processes, even if these have left
// their session, their parent and their environment. Source: the kernel's admin-guide/cgroup-v2.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

// The folder of this process's own control group, if the machine permits it to make groups there, put
// processes into them and end a group's processes together. A process that does nothing is used to try that;
// leftovers of earlier tries are removed. The error says what the machine doesn't permit.
Result<std::string> control_group_parent();

// Finds the same folder from the texts of /proc/self/mountinfo and /proc/self/cgroup.
Result<std::string> own_control_group(std::string_view mounts, std::string_view groups);

// Makes a group. Its folder, an absolute path, identifies it.
Result<void> make_control_group(const std::string& path);
// Puts a process into the group. The processes that it starts afterwards are in the group, too.
Result<void> enter_control_group(const std::string& path, pid_t process);
// The processes in the group and in groups below it; empty: the group doesn't exist.
std::vector<pid_t> control_group_processes(const std::string& path);
// Sends KILL to all processes of the group at once, so that none can escape by forking (cgroup.kill, Linux
// 5.14; on older kernels, freezes them and sends KILL to each). The processes take a moment to end.
void kill_control_group(const std::string& path);
// Stops all processes of the group, or lets them go on. False: the kernel refuses that.
bool freeze_control_group(const std::string& path, bool frozen);
// Removes the group, and groups below it that a job of root may have made. False: processes are in it.
bool remove_control_group(const std::string& path);

}  // namespace pbs::host
