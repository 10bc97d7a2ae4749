// object=record: the record of a scheduling cycle.
#pragma once

#include <functional>

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Replies with the text of the record in parts, as pbs_statrecord() in ifl/pbs_ifl.h describes. With "next",
// replies with the number of cycles that have begun; with "after=N", with the record of a cycle that began
// after the N-th, or without one yet. The reply to a request with a ticket comes in parts, as
// pbs_plugin::status describes. Errors: PBSE_PERM unless the client is an operator or manager, PBSE_UNKSCHED,
// PBSE_IVALREQ for other options, PBSE_SYSTEM if the disk of the host's home has too little room;
// PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_record(State& state, const pbs_status_request& request, Reply reply);

// Called before a cycle: returns the function that records it, if a client waits for a record; else an empty
// function. Drops an earlier record that nobody fetched.
std::function<void(sched::Inspector&)> record_next(State& state, const pbs_cycle_request& request);
// Called after the cycle: makes its record ready for the client.
void keep_record(State& state, sched::Instant now);
// Drops records that no client has asked for in a while.
void forget_records(State& state, sched::Instant now);

}  // namespace pbs::plugin
