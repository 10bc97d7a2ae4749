// Checkpoints of running jobs: a program of the site writes one, as mom_priv/config names it.
//
//   $action checkpoint_abort 300 !/usr/local/sbin/checkpoint %jobid %sid %path
//
// The program has so many seconds. If it ends with 0 the checkpoint is written, and the job is ended and
// queued again; what the job begins with then is the business of the program and the job's script. The
// program may end the job itself. Nobody waits for it: it is asked now and then.
#pragma once

#include <functional>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Does the site have such a program, and the job nothing against it (Checkpoint=n)?
bool may_checkpoint(const Server& server, const Job& job);
// Runs the program. `done` is called later, once, from poll_checkpoints().
void begin_checkpoint(Server& server, const Job& job, std::function<void(const Result<void>&)> done);
void poll_checkpoints(Server& server);

}  // namespace pbs::host
