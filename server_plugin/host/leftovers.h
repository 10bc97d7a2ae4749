// What is left of a job whose shepherd is gone.
#ifndef PBSPOLICY_HOST_LEFTOVERS_H
#define PBSPOLICY_HOST_LEFTOVERS_H

#include <cstddef>
#include <optional>

#include "server_plugin/host/run_files.h"

namespace pbs::host {

// Kills the processes that have the job's cookie in their environment, or are in its session (if that was
// made in this boot of the machine) and belong to its owner. Waits up to two seconds for them to go. Returns
// how many are still there.
std::size_t kill_leftovers(const JobSpec& spec, const std::optional<SessionRecord>& session);

}  // namespace pbs::host

#endif
