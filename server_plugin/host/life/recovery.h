// At the start: what came of the jobs that were running when the server stopped.
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

// What the runner reports while the server runs: sessions and ends.
void take_run_events(Server& server);

}  // namespace pbs::host
