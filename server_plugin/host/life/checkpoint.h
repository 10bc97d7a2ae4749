// Checkpoints of running jobs: a program of the site writes one, as mom_priv/config names it.
//
//   $action checkpoint_abort 300 !/usr/local/sbin/checkpoint %jobid %sid %path
//
// The program may take so many seconds. If it ends with 0, the checkpoint is written, and the job is ended
// and queued again; restarting from the checkpoint is up to the program and the job's script. The program may
// end the job itself. Nobody waits for it: poll_checkpoints() looks at it now and then.
#pragma once

#include <functional>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Has the site such a program, and does the job permit it (no Checkpoint=n)?
bool may_checkpoint(const Server& server, const Job& job);
// Runs the program. `done` is called later, once, from poll_checkpoints().
void begin_checkpoint(Server& server, const Job& job, std::function<void(const Result<void>&)> done);
void poll_checkpoints(Server& server);

}  // namespace pbs::host
