// qsub -W block=true waits for the end of its job at a port, and is told of it by the server.
#pragma once

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/dependencies.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// The job ends. If a qsub waits for that, a note of what it is to be told is made in the change, for
// settle_dependencies(): so it is told also by a server that was killed in between.
void note_block_answer(Change& change, Job& job);
// Tells the waiting qsub what the note says, if it still listens.
void give_block_answer(Server& server, const Link& note);

}  // namespace pbs::host
