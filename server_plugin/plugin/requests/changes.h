// Answers requests with the extend string object=changes: shows the objects that have changed, for a site's
// program that schedules in the plugin's place.
#pragma once

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Replies with lines like those of a record, as pbs_statchanges() in ifl/pbs_ifl.h describes. The plugin
// replies at once, and the host waits for changes (pbs_plugin::last_change). `extend` is "version=N". A reply
// has only the next changes, as many as take some milliseconds; its last line has the number of its last
// change.
//
// Errors: PBSE_PERM unless the client is a manager; PBSE_UNKSCHED; PBSE_IVALREQ for another extend string;
// PBSE_HISTORY if changes after the version aren't known any more; PBSE_NOSUP if the host has pbs_sched;
// PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_changes(State& state, const pbs_status_request& request, Reply reply);

}  // namespace pbs::plugin
