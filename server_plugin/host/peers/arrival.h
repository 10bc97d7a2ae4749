// Jobs that other servers hand in: a QueueJob request with the job's id, its script, and a Commit.
//
// The other server keeps the job until it knows that this one has it, and hands it in again if it doesn't
// know. So this server remembers for a while which jobs it has got, even those that have ended since, and
// takes none twice: PBSE_JOBEXIST says that it has the job.
#pragma once

#include <cstdint>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// For so many seconds the server remembers that a job has come.
inline constexpr int64_t kRemembersArrivals = int64_t{90} * 24 * 3600;

// May `who`, at this numeric address, hand in jobs for the queue? A manager may, and so may root of a server
// from which a policy in force pulls jobs into this queue. PBSE_IVALREQ, with which PBS refuses an id from a
// client.
Result<void> may_hand_in(const Server& server, const Identity& who, const std::string& address,
                         const Queue& queue);

// Checks that this server doesn't have the job, and hasn't got it before after as many hops. PBSE_JOBEXIST.
Result<void> is_new(Server& server, const std::string& id, int64_t hops);

// Takes over the attributes that another server sends, except those that it worked out itself. PBSE_NOSUP:
// the job can't be run apart from that server. PBSE_BADATVAL, PBSE_UNKRESC, ...: `refused` is the attribute's
// place in the list.
Result<void> take_attributes(Job& job, const ifl::Attributes& attributes, const State& state,
                             size_t& refused);

}  // namespace pbs::host
