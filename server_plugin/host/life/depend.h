// Handles the dependencies between jobs (qsub -W depend). A job that waits for other jobs has a system hold,
// so that schedulers leave it out. When one of the other jobs starts or ends, the same transaction stores a
// note of that event. settle_dependencies() then handles the waiting jobs by the notes, a few at a time, so
// that a large number of them doesn't delay requests. After a crash, the server goes on by the stored notes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// Returns the value of `depend` as qstat -f shows it; empty: no dependencies.
std::string shown_depend(const Job& job, const State& state);

// Completes the job ids in a value of `depend`: "12" becomes "12.svr@svr". PBSE_BADATVAL: the value is
// malformed or names jobs of other servers.
Result<std::string> full_depend(std::string_view value, const State& state);

// Links a job to the jobs that its `depend` names. If a dependency can't be met, the job is deleted, although
// the request succeeds, as in PBS. REQUIRES: the job is in an execution queue, and in the change.
// PBSE_IVALREQ: the job depends on itself, or runone names an unknown job.
Result<void> take_up_dependencies(Change& change, Job& job);
// Updates the links after qalter has changed `depend`. The new value replaces the dependencies of the types
// that it names; those of other types stay. `before`: the old value, if the job is in a route queue.
Result<void> alter_dependencies(Change& change, Job& job, const std::string& before);

// Updates dependencies when the job starts. PBSE_BADSTATE: another job of its runone set runs.
Result<void> dependencies_at_start(Change& change, const Job& job);
// Updates dependencies when the job's script runs.
void dependencies_when_running(Change& change, const Job& job);
// Updates dependencies when the job returns to its queue.
void dependencies_at_requeue(Change& change, const Job& job);
// Updates dependencies when the job ends, before it becomes history. REQUIRES: its state and Exit_status are
// final.
void dependencies_at_end(Change& change, Job& job);

// Handles some of the stored notes and waiting jobs, in one transaction. Returns false if none is left.
Result<bool> settle_dependencies(Server& server, int64_t now);

}  // namespace pbs::host
