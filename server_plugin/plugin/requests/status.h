// Status requests for objects that only the plugin has: policies, time_windows, fs_groups, quotas, the
// configuration and others.
#pragma once

#include <cstdint>

#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Implements pbs_plugin::status. Any user may ask for policies, time_windows, fs_groups and quotas. Returns
// 0, or the PBSE_ number that it has put into the reply.
int32_t status(State& state, const pbs_status_request* request, Reply reply);

}  // namespace pbs::plugin
