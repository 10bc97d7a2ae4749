// object=record: the record of a scheduling cycle.
#pragma once

#include <functional>

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Answers with the text of the record in parts, as pbs_statrecord() in ifl/pbs_ifl.h says; with "next" how
// many cycles have begun, and with "after=N" the record of one that began later, or nothing yet. To a request
// with a ticket a part at a time, as pbs_plugin::status says. Errors: PBSE_PERM to anyone but operators and
// managers, PBSE_UNKSCHED, PBSE_IVALREQ for other options, PBSE_SYSTEM if there is no room for it on the disk
// of the host's home; PBSE_TRYAGAIN, as BackgroundQueries say.
int32_t status_record(State& state, const pbs_status_request& request, Reply reply);

// Before a cycle: what is to record it, if somebody waits for that; or nothing. What nobody fetched goes.
std::function<void(sched::Inspector&)> record_next(State& state, const pbs_cycle_request& request);
// After it: the record is there.
void keep_record(State& state, sched::Instant now);
// Records that nobody has asked for in a while go.
void forget_records(State& state, sched::Instant now);

}  // namespace pbs::plugin
