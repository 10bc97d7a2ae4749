// Makes checkpoints of running jobs, by a program of the site that mom_priv/config names:
//
//   $action checkpoint_abort 300 !/usr/local/sbin/checkpoint %jobid %sid %path
//
// The number is the most seconds that the program may take. The program may also end the job. If the program
// exits with 0, the checkpoint is written, and the server ends the job and queues it again. At the job's next
// run, its script has to restart from the checkpoint. The server doesn't wait for the program:
// poll_checkpoints() looks now and then whether it has ended.
#pragma once

#include <functional>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Returns whether the site has a checkpoint program, and the job runs and permits checkpoints (no
// Checkpoint=n).
bool may_checkpoint(const Server& server, const Job& job);
// Starts the checkpoint program. Calls `done` with the outcome, once: at once if the program can't be
// started, else from poll_checkpoints().
void begin_checkpoint(Server& server, const Job& job, std::function<void(const Result<void>&)> done);
void poll_checkpoints(Server& server);

}  // namespace pbs::host
