// The processes of a job, wherever they are, and their end.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "server_plugin/host/run/process_tree.h"
#include "server_plugin/host/run/run_files.h"

namespace pbs::host {

// The processes that are in the job's control group, have the job's cookie in their environment, or are in
// its session (if that was made in this boot of the machine) and belong to its owner. Not this process, and
// no zombies.
std::vector<Process> find_leftovers(const JobSpec& spec, const std::optional<SessionRecord>& session);

// Kills what `find` finds, and what is in the control group, until that is nothing or the time is over;
// returns how many are still there. They are stopped first, so that none starts others while it is looked
// for. `reap`, called now and then, is to wait for those of them that are children of this process, which has
// SIGCHLD blocked.
std::size_t kill_processes(const std::function<std::vector<Process>()>& find,
                           const std::string& control_group, const std::function<void()>& reap,
                           std::chrono::milliseconds time);

}  // namespace pbs::host
