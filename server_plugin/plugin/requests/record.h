// Answers requests with the extend string object=record: gives the record of a scheduling cycle, to be run
// again by pbs_replay.
#pragma once

#include <functional>

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Replies with a record, as pbs_statrecord() in ifl/pbs_ifl.h describes: without options, with that of a
// cycle that would begin now. With "next", replies with the number of cycles that have begun, and has the
// next one recorded; with "after=N", replies with the record of a cycle that began after the N-th, or, if
// there is none yet, like "next". If the request has a ticket, the record comes in parts, as
// pbs_plugin::status describes. Errors: PBSE_PERM unless the client is an operator or manager, PBSE_UNKSCHED,
// PBSE_IVALREQ for other options, PBSE_SYSTEM if the disk of the host's home has too little room;
// PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_record(State& state, const pbs_status_request& request, Reply reply);

// Called before a cycle. If a client waits for a record, returns the function that records the cycle, else an
// empty function. Drops an earlier record that nobody fetched.
std::function<void(sched::Inspector&)> record_next(State& state, const pbs_cycle_request& request);
// Called after a cycle: makes its record, if any, available to the client.
void keep_record(State& state, sched::Instant now);
// Drops records that no client has fetched in time.
void forget_records(State& state, sched::Instant now);

}  // namespace pbs::plugin
