// Handles the runner's reports about running and ended jobs, at the server's start and later.
#pragma once

#include <vector>

#include "server_plugin/host/change/server.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {

// The runs that go on according to the database.
std::vector<RunId> running_starts(const State& state);
// The earliest start of these jobs; `now` if there are none.
int64_t earliest_start(const State& state, int64_t now);

// Updates each job by the runner's report about it. REQUIRES: the plugin knows the jobs as stored. A report
// whose handling throws is tried again with the next events. Writes the accounting records of queueings and
// starts that the last server couldn't write.
Result<void> recover_jobs(Server& server, const std::vector<RunReport>& reports,
                          const std::vector<RunReport>& strays);

// Handles the runner's reports while the server runs: sessions and ends. Also continues checkpoints, and jobs
// that wait for preempted jobs before their launch.
void take_run_events(Server& server);

}  // namespace pbs::host
