// object=record: the record of a scheduling cycle.
#ifndef PBSPOLICY_PLUGIN_REQUESTS_RECORD_H
#define PBSPOLICY_PLUGIN_REQUESTS_RECORD_H

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Answers with the text of the record in parts, as pbs_statrecord() in ifl/pbs_ifl.h says. Errors: PBSE_PERM
// to anyone but operators and managers, PBSE_UNKSCHED, and PBSE_IVALREQ for options.
int32_t status_record(State& state, const pbs_status_request& request, Reply reply);

}  // namespace pbs::plugin

#endif
