// Answers a qsub -W block=true that waits at a port for the end of its job.
#pragma once

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/dependencies.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// Notes in the change, for settle_dependencies(), the answer to a qsub that waits for the end of this job. So
// it is answered even if the server is killed in between. Does nothing if no qsub waits.
void note_block_answer(Change& change, Job& job);
// Sends the waiting qsub the answer in the note, if it still listens.
void give_block_answer(Server& server, const Link& note);

}  // namespace pbs::host
