// Dependencies between jobs: what qsub -W depend means. A job that waits for others has a system hold, so
// that no scheduler sees it. When one of the others starts or ends, a note of that is made in the same
// transaction, and those that wait are dealt with after it, some at a time (settle_dependencies): however
// many they are, nobody else waits for them, and a server that dies in between goes on with them.
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

// A value of `depend` with its jobs as this server names them, "12.svr@svr". PBSE_BADATVAL if it isn't one,
// or names jobs of other servers.
Result<std::string> full_depend(std::string_view value, const State& state);

// Links a job that is in an execution queue, and in the change, to those that its `depend` names. As in PBS,
// a dependency that can't be met deletes the job, and the request that made it succeeds. PBSE_IVALREQ: on
// itself, or runone with an unknown job.
Result<void> take_up_dependencies(Change& change, Job& job);
// The same after qalter has changed `depend`, from what it was in `before` if the job is in a route queue:
// types that the new value names are replaced, others stay.
Result<void> alter_dependencies(Change& change, Job& job, const std::string& before);

// The job starts; PBSE_BADSTATE if another one of its runone set runs.
Result<void> dependencies_at_start(Change& change, const Job& job);
// Its script runs.
void dependencies_when_running(Change& change, const Job& job);
// It goes back to its queue.
void dependencies_at_requeue(Change& change, const Job& job);
// It ends: the state and Exit_status are those of its end, before it becomes history.
void dependencies_at_end(Change& change, Job& job);

// Does a part of what is left to do for those that wait, in a transaction. False: nothing is left.
Result<bool> settle_dependencies(Server& server, int64_t now);

}  // namespace pbs::host
