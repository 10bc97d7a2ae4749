// object=changes: the objects that have changed, for programs that schedule themselves.
#pragma once

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Replies with lines as in a record, as pbs_statchanges() in ifl/pbs_ifl.h describes, at once: the host waits
// for changes (pbs_plugin::last_change). `extend` is "version=N". A reply has the next changes only, as many
// as take some milliseconds; its last line has the number that it reaches.
//
// Errors: PBSE_PERM unless the client is a manager; PBSE_UNKSCHED; PBSE_IVALREQ for another extend string;
// PBSE_HISTORY if changes after the version aren't known any more; PBSE_NOSUP if the host has pbs_sched;
// PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_changes(State& state, const pbs_status_request& request, Reply reply);

}  // namespace pbs::plugin
