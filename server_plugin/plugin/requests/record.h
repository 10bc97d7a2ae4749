// object=record: the record of a scheduling cycle.
#ifndef PBSPOLICY_PLUGIN_REQUESTS_RECORD_H
#define PBSPOLICY_PLUGIN_REQUESTS_RECORD_H

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Answers with the text of the record in parts, as pbs_statrecord() in ifl/pbs_ifl.h says; with "next" how
// many cycles have begun, and with "after=N" the record of one that began later, or nothing yet. Errors:
// PBSE_PERM to anyone but operators and managers, PBSE_UNKSCHED, and PBSE_IVALREQ for other options.
int32_t status_record(State& state, const pbs_status_request& request, Reply reply);

// Before a cycle: records it if somebody waits for that. What nobody fetched goes.
void record_next(State& state, const pbs_cycle_request& request);

}  // namespace pbs::plugin

#endif
