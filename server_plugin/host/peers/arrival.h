// Jobs that other servers hand in: a QueueJob request with the job's id, its script, and a Commit.
//
// The other server keeps the job until it knows that this server has it, and hands it in again if it doesn't
// know. So this server remembers the ids of such jobs for a while, even of ended ones, and takes no job
// twice: PBSE_JOBEXIST says that it has the job.
#pragma once

#include <cstdint>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// The seconds for which the server remembers the id of such a job.
inline constexpr int64_t kRemembersArrivals = int64_t{90} * 24 * 3600;

// May `who`, at this numeric address, hand in jobs for the queue? Managers may; so may root of a server from
// which a policy in force pulls jobs into this queue. PBSE_IVALREQ: no, as PBS answers if a client sends an
// id.
Result<void> may_hand_in(const Server& server, const Identity& who, const std::string& address,
                         const Queue& queue);

// Checks that this server doesn't have the job, and hasn't had it before after the same number of hops.
// PBSE_JOBEXIST.
Result<void> is_new(Server& server, const std::string& id, int64_t hops);

// Sets the attributes that another server sends, except those that the other server computed itself.
// PBSE_NOSUP: the job can run on that server only. PBSE_BADATVAL, PBSE_UNKRESC, ...: `refused` is the
// attribute's index in the list.
Result<void> take_attributes(Job& job, const ifl::Attributes& attributes, const State& state,
                             size_t& refused);

}  // namespace pbs::host
