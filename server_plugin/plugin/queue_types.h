// execution_type of queues by a migration, on its way to the host (migrate/queue_types.h).
#pragma once

#include <string_view>
#include <vector>

#include "migrate/queue_types.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// The settings left to do, for queues that exist. The host asks for them with the status of the
// configuration, part=queue_types: after the start, and after Manager requests for queues and the
// configuration. An error of the store goes to the log, and the list is then empty.
std::vector<migrate::QueueType> queue_types(const State& state);

// Notes that the host has set a queue: it tells so by setting queue_type_done of the configuration to the
// queue's name. Until then it is told of the queue again.
void queue_type_done(State& state, std::string_view queue);

// Sets the types itself where the host keeps no execution_type: once the store is open, and for queues and
// migrations that come later. Does nothing while a long change of the configuration is under way.
void set_queue_types(State& state, sched::Instant now);
// Have queues changed since the last call of set_queue_types()?
bool wants_queue_types(const State& state);

}  // namespace pbs::plugin
