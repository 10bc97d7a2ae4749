// Answers a qsub -W block=true, which waits at a port for the end of its job, and a qsub -I whose job ends
// without having run.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/dependencies.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// The most qsubs that are called in one turn of the server's loop: a host that doesn't answer takes 20 ms.
inline constexpr int kMostCallsAtOnce = 2;

// The answer for a waiting qsub, as Link::other keeps it. Its bits, from the lowest: 16 for the port, 15 for
// the exit status, 1 that is set if the job never ran and so has no exit status, 32 for the uid.
struct BlockAnswer {
    uint16_t port = 0;
    int16_t exit_status = 0;  // from -16384 to 16383
    bool ran = true;
    uid_t uid = 0;  // the user who waits at the port

    uint64_t packed() const;
    static BlockAnswer unpacked(uint64_t value);
    bool operator==(const BlockAnswer&) const = default;
};

// If a qsub waits for the end of this job, stores the answer with the change; settle_dependencies() sends it
// after the commit. So the qsub gets the answer even if the server is killed between the commit and the
// sending.
void note_block_answer(Change& change, Job& job);
// Tells a qsub that waits for the job why it has ended without having run. A waiting qsub -W block=true gets
// the reason with its answer; a qsub -I gets it by tell_untold_reasons(): the job's id and kEnded, each with
// a zero behind it, filled up with zeros to 276 bytes, and the text behind that. (OpenPBS's qsub takes the
// first for the start of its job, shows the text, and ends with the connection.) Call it when the change is
// committed.
void tell_reason(Server& server, const Job& job, const std::string& reason);
// Sends the oldest kMostCallsAtOnce reasons of Server::untold_reasons.
void tell_untold_reasons(Server& server);
// Sends the answer that `note` stores to the waiting qsub, if it still listens.
void give_block_answer(Server& server, const Link& note);

}  // namespace pbs::host
