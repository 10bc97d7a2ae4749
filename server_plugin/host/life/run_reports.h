// Reports of the runner: which jobs run, and which have ended, at the server's start and from then on.
#pragma once

#include <vector>

#include "server_plugin/host/change/server.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {

// The starts that the database holds for running.
std::vector<RunId> running_starts(const State& state);
// When the earliest of their jobs started; `now` if there are none.
int64_t earliest_start(const State& state, int64_t now);

// Brings each job in line with what the runner says of it. The plugin has been told of the jobs as they were
// stored. A report that throws is tried again with the next events. Accounting gets the records of queueings
// and starts that the last server could not write.
Result<void> recover_jobs(Server& server, const std::vector<RunReport>& reports,
                          const std::vector<RunReport>& strays);

// Takes what the runner reports while the server runs: sessions and ends. Follows up on checkpoints, and on
// jobs that wait for others to make room.
void take_run_events(Server& server);

}  // namespace pbs::host
