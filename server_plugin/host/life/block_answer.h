// Answers a qsub -W block=true, which waits at a port for the end of its job.
#pragma once

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/dependencies.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// If a qsub waits for the end of this job, stores the answer with the change; settle_dependencies() sends it
// after the commit. So the qsub gets the answer even if the server is killed in between.
void note_block_answer(Change& change, Job& job);
// Sends the answer that `note` stores to the waiting qsub, if it still listens.
void give_block_answer(Server& server, const Link& note);

}  // namespace pbs::host
