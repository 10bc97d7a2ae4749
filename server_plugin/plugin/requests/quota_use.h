// Answers requests with the extend string object=quota_use: shows how much running jobs use of a scheduler's
// quotas.
#pragma once

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Replies with the counters of a scheduler's quotas, as pbs_statquotause() in ifl/pbs_ifl.h describes.
// Managers and operators see all counters, other users only those that name them. A request with a ticket is
// answered after the scheduler's thread has counted. Errors: PBSE_UNKSCHED; PBSE_IVALREQ for options;
// PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_quota_use(State& state, const pbs_status_request& request, Reply reply);

}  // namespace pbs::plugin
