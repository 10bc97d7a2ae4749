// Checkpoints of running jobs, written by a program of the site that mom_priv/config names:
//
//   $action checkpoint_abort 300 !/usr/local/sbin/checkpoint %jobid %sid %path
//
// The number is the most seconds that the program may take. If it exits with 0, the checkpoint is written,
// and the job is ended and queued again; the program and the job's script restart from the checkpoint
// themselves. The program may end the job, too. The server doesn't wait for the program: poll_checkpoints()
// polls it.
#pragma once

#include <functional>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Does the site have such a program, and does the job permit checkpoints (no Checkpoint=n)?
bool may_checkpoint(const Server& server, const Job& job);
// Starts the program. poll_checkpoints() calls `done` later, once.
void begin_checkpoint(Server& server, const Job& job, std::function<void(const Result<void>&)> done);
void poll_checkpoints(Server& server);

}  // namespace pbs::host
