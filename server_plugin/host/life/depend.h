// Dependencies between jobs (qsub -W depend). A job that waits for others has a system hold, so that no
// scheduler sees it. When one of the others starts or ends, a note of that is made in the same transaction,
// and the waiting jobs are handled after it, some at a time (settle_dependencies): however many they are,
// nobody else waits for them, and a server that dies in between goes on with them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// The value of `depend` as qstat -f shows it; empty: none.
std::string shown_depend(const Job& job, const State& state);

// The value of `depend` with jobs as this server names them, "12.svr@svr". PBSE_BADATVAL if the value is
// malformed or names jobs of other servers.
Result<std::string> full_depend(std::string_view value, const State& state);

// Links a job that is in an execution queue, and in the change, to the jobs that its `depend` names. As in
// PBS, a dependency that can't be met deletes the job, while the request that made it succeeds. PBSE_IVALREQ:
// a dependency on itself, or runone with an unknown job.
Result<void> take_up_dependencies(Change& change, Job& job);
// Updates the links after qalter has changed `depend`. `before`: its value until then, if the job is in a
// route queue. Types that the new value names are replaced, other types stay.
Result<void> alter_dependencies(Change& change, Job& job, const std::string& before);

// Call it when the job starts. PBSE_BADSTATE if another job of its runone set runs.
Result<void> dependencies_at_start(Change& change, const Job& job);
// Call it when its script runs.
void dependencies_when_running(Change& change, const Job& job);
// Call it when it goes back to its queue.
void dependencies_at_requeue(Change& change, const Job& job);
// Call it when the job ends, before it becomes history; state and Exit_status have to be those of its end.
void dependencies_at_end(Change& change, Job& job);

// Handles some of the waiting jobs, in a transaction. False: none is left to handle.
Result<bool> settle_dependencies(Server& server, int64_t now);

}  // namespace pbs::host
