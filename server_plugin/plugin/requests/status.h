// Status requests for objects that only the plugin has: policies, time_windows, fs_groups, quotas, the
// configuration and others.
#pragma once

#include <cstdint>

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Implements pbs_plugin::status. Any user may ask for policies, time_windows, fs_groups and quotas. Returns
// 0, or the PBSE_ number that it has put into the reply.
int32_t status(State& state, const pbs_status_request* request, Reply reply);

// Replies with the counters of a scheduler's quotas, as pbs_statquotause() in ifl/pbs_ifl.h describes.
// Managers and operators see all counters, other users only those that name them. A request with a ticket is
// answered after the scheduler's thread has counted. Errors: PBSE_UNKSCHED; PBSE_IVALREQ for options;
// PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_quota_use(State& state, const pbs_status_request& request, Reply reply);

// Replies with lines like those of a record, as pbs_statchanges() in ifl/pbs_ifl.h describes. The plugin
// replies at once, and the host waits for changes (pbs_plugin::last_change). `extend` is "version=N". A reply
// has only the next changes, as many as take some milliseconds; its last line has the number of its last
// change.
//
// Errors: PBSE_PERM unless the client is a manager; PBSE_UNKSCHED; PBSE_IVALREQ for another extend string;
// PBSE_HISTORY if changes after the version aren't known any more; PBSE_NOSUP if pbs_sched has scheduled
// all jobs since the start; PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_changes(State& state, const pbs_status_request& request, Reply reply);

}  // namespace pbs::plugin
