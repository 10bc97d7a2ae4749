// Handles the runner's reports about running and ended jobs, at the server's start and later.
#pragma once

#include <vector>

#include "server_plugin/host/change/server.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {

// Returns the runs that still go on according to the database.
std::vector<RunId> running_starts(const State& state);
// Returns the earliest start of the jobs that run according to the database; `now` if there are none.
int64_t earliest_start(const State& state, int64_t now);

// At the server's start, updates each job by the runner's report about it, and ends `strays`, the runs that
// the database doesn't know. A report whose handling throws is tried again with the next events. Also writes
// the accounting records of queueings and starts that the last server couldn't write. REQUIRES: the plugin
// knows the jobs as stored.
Result<void> recover_jobs(Server& server, const std::vector<RunReport>& reports,
                          const std::vector<RunReport>& strays);

// Handles the runner's reports of sessions and ends while the server runs. Also polls checkpoints, and
// launches jobs that wait for preempted jobs.
void take_run_events(Server& server);

}  // namespace pbs::host
