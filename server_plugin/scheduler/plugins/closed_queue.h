// The reason why a suspended job waits in a queue whose time_windows are closed.
#pragma once

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/reason.h"

namespace pbs::sched {

// Returns the reason why a suspended job of the queue stays suspended. REQUIRES: the queue is closed.
Reason suspended_until(const CycleState& state, const QueueView& view);

}  // namespace pbs::sched
