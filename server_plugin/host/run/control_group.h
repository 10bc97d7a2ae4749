// Gives jobs control groups (cgroup v2). The kernel lists a job's processes in the job's group, even those
// that have left its session, their parent and their environment. Source: the kernel's admin-guide/cgroup-v2.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

// The name of the server's own control group in its systemd service (DelegateSubgroup).
inline constexpr const char* kServersGroup = "pbs_server";

// Returns the folder in which the groups of jobs are made: this process's own control group
// (own_control_group()), or the one above, see group_of_jobs(). Before that, tests with a process that does
// nothing whether the machine permits to make groups there, to put processes into them and to end a group's
// processes together. Also removes the groups that interrupted tests have left. The error says what the
// machine doesn't permit.
Result<std::string> control_group_parent();

// Finds the folder of this process's own control group from the texts of /proc/self/mountinfo (`mounts`) and
// /proc/self/cgroup (`groups`).
Result<std::string> own_control_group(std::string_view mounts, std::string_view groups);

// Lets the groups in `parent` have weights (cpu.weight), unless they have them already. The error says why
// they can't.
Result<void> enable_weights(const std::string& parent);
// Returns the reason why the kernel has answered EBUSY, as the end of a message: processes in `parent`
// itself.
std::string why_busy(const std::string& parent);
// Sets the group's part of the CPUs when it competes with others: from 1 to 10000; a new group has 100. The
// error says why that failed.
Result<void> weigh_control_group(const std::string& path, int weight);

// Returns the group in which the groups of jobs are made if the server is in the group `own`: the group
// above, if that is delegated to the server and `own` is named kServersGroup; else `own`. The groups of jobs
// can have weights only if the group above them has no processes of its own.
std::string group_of_jobs(const std::string& own);

// Makes a group. `path`: the group's folder, an absolute path, which identifies it.
Result<void> make_control_group(const std::string& path);
// Puts a process into the group. The processes that it starts afterwards are in the group, too.
Result<void> enter_control_group(const std::string& path, pid_t process);
// Returns the processes in the group and in groups below it; empty: there are none, or no such group.
std::vector<pid_t> control_group_processes(const std::string& path);
// Sends KILL to all processes of the group at once, so that none can escape by forking (cgroup.kill, Linux
// 5.14). On older kernels, freezes the processes and sends KILL to each. The processes take a moment to end.
void kill_control_group(const std::string& path);
// Stops all processes of the group, or lets them continue. Returns false if the kernel refuses that.
bool freeze_control_group(const std::string& path, bool frozen);
// Removes the group, and the groups below it, which a job of root may have made. Returns false if one of them
// still has processes.
bool remove_control_group(const std::string& path);

}  // namespace pbs::host
