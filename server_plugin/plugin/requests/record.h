// object=record: the record of a scheduling cycle.
#pragma once

#include <functional>

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Answers with the text of the record in parts, as pbs_statrecord() in ifl/pbs_ifl.h describes; with "next",
// the number of cycles that have begun, and with "after=N" the record of one that began later, or nothing
// yet. A request with a ticket is answered a part at a time, as pbs_plugin::status describes. Errors:
// PBSE_PERM to anyone but operators and managers, PBSE_UNKSCHED, PBSE_IVALREQ for other options, PBSE_SYSTEM
// if there is no room for it on the disk of the host's home; PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_record(State& state, const pbs_status_request& request, Reply reply);

// Called before a cycle: returns the function that records it, if somebody waits for that; or none. Drops a
// record that nobody fetched.
std::function<void(sched::Inspector&)> record_next(State& state, const pbs_cycle_request& request);
// Called after the cycle: keeps the record.
void keep_record(State& state, sched::Instant now);
// Drops records that nobody has asked for in a while.
void forget_records(State& state, sched::Instant now);

}  // namespace pbs::plugin
