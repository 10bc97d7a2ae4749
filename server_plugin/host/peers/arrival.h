// Jobs that other servers hand in: a QueueJob request with the job's id, its script, and a Commit.
//
// The other server keeps the job until it knows that this one has it, and asks again if it doesn't know. So
// this one remembers for a while which jobs it has got, also of those that have ended here since, and takes
// none twice: PBSE_JOBEXIST says that it has the job.
#pragma once

#include <cstdint>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// So long it is remembered that a job has come.
inline constexpr int64_t kRemembersArrivals = int64_t{90} * 24 * 3600;

// May `who`, at this numeric address, hand in jobs for the queue? A manager may, and root of a server that a
// policy in force pulls jobs from into this queue. PBSE_IVALREQ, as PBS refuses an id from a client.
Result<void> may_hand_in(const Server& server, const Identity& who, const std::string& address,
                         const Queue& queue);

// Is it a job that this server has, or had, handed in as often as it is now? PBSE_JOBEXIST.
Result<void> is_new(Server& server, const std::string& id, int64_t hops);

// Takes the attributes over as another server sends them: what it worked out itself is left out. A job that
// can't be run apart from that server is refused: PBSE_NOSUP. PBSE_BADATVAL, PBSE_UNKRESC, ...: the
// attribute's place is in `refused`.
Result<void> take_attributes(Job& job, const ifl::Attributes& attributes, const State& state,
                             size_t& refused);

}  // namespace pbs::host
