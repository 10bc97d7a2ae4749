// Checks jobs that other servers hand in, which means that they move them to this server. A server hands in a
// job by a QueueJob request with the job's id, its script, and a Commit.
//
// The sending server keeps the job until it knows that this server has it. If it doesn't know, it hands the
// job in again. So this server remembers the ids of such jobs for a while, even of ended ones, and answers
// PBSE_JOBEXIST for a job that it has or has had. Thus it takes no job twice.
#pragma once

#include <cstdint>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// The seconds for which the server remembers the id of a job that was handed in.
inline constexpr int64_t kRemembersArrivals = int64_t{90} * 24 * 3600;

// Checks that `who`, at this numeric address, may hand in jobs for the queue. Managers may. The root of a
// server may, too, if a policy in force pulls jobs from that server into this queue. Others get PBSE_IVALREQ,
// as in PBS for a client that sends an id.
Result<void> may_hand_in(const Server& server, const Identity& who, const std::string& address,
                         const Queue& queue);

// Checks that the server doesn't have the job. `hops`: the number of servers that had the job. If the job has
// been here before, it must have come with fewer hops than now. PBSE_JOBEXIST.
Result<void> is_new(Server& server, const std::string& id, int64_t hops);

// Sets the attributes that the sending server gives, except those that only that server can compute.
// PBSE_NOSUP: the job can run on that server only. PBSE_BADATVAL, PBSE_UNKRESC, ...: `refused` is the index
// of the refused attribute in the list.
Result<void> take_attributes(Job& job, const ifl::Attributes& attributes, const State& state,
                             size_t& refused);

}  // namespace pbs::host
