// Handles the runner's reports about jobs that run and jobs that have ended, at the server's start and later.
#pragma once

#include <vector>

#include "server_plugin/host/change/server.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {

// The starts that run according to the database.
std::vector<RunId> running_starts(const State& state);
// When the earliest of their jobs started; `now` if there is none.
int64_t earliest_start(const State& state, int64_t now);

// Brings each job in line with the runner's report of it. REQUIRES: the plugin has been told of the jobs as
// they were stored. A report that throws is tried again with the next events. Writes accounting records for
// queueings and starts that the last server could not write.
Result<void> recover_jobs(Server& server, const std::vector<RunReport>& reports,
                          const std::vector<RunReport>& strays);

// Handles the runner's reports while the server runs: sessions and ends. Also follows up on checkpoints, and
// on jobs that wait for others to make room.
void take_run_events(Server& server);

}  // namespace pbs::host
