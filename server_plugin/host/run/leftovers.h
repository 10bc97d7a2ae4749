// Finds and ends the processes that belong to a job, whichever processes are their parents.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "server_plugin/host/run/process_tree.h"
#include "server_plugin/host/run/run_files.h"

namespace pbs::host {

// Finds the processes of the job: those in its control group, those with its cookie in their environment, and
// those of its owner in its session (if the session is of this boot of the machine). Omits this process and
// zombies.
std::vector<Process> find_leftovers(const JobSpec& spec, const std::optional<SessionRecord>& session);

// Kills the processes in the control group and those that `find` returns, again and again until none is left
// or `time` is over. Before it kills the processes of `find`, it stops them, so that they start no others.
// Returns how many are left. `reap` is called repeatedly, and has to wait for ended children of this process.
// REQUIRES: SIGCHLD is blocked.
std::size_t kill_processes(const std::function<std::vector<Process>()>& find,
                           const std::string& control_group, const std::function<void()>& reap,
                           std::chrono::milliseconds time);

}  // namespace pbs::host
