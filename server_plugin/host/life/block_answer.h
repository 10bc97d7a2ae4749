// Answers a qsub -W block=true, which listens at a port for the end of its job.
#pragma once

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/dependencies.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// If a qsub waits for the end of this job, stores the answer with the change, for settle_dependencies(). So
// qsub gets it even if the server is killed in between.
void note_block_answer(Change& change, Job& job);
// Sends the stored answer to the qsub, if it still listens.
void give_block_answer(Server& server, const Link& note);

}  // namespace pbs::host
