// One scheduling cycle, asked for by the host.
#ifndef PBSPOLICY_PLUGIN_CYCLE_H
#define PBSPOLICY_PLUGIN_CYCLE_H

#include <cstdint>

#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// pbs_plugin::cycle. The decisions are in state.decisions until the next cycle.
int32_t cycle(State& state, const pbs_cycle_request* request, pbs_cycle_result* result);

}  // namespace pbs::plugin

#endif
