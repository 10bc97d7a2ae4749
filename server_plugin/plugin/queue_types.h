// What a migration says of the server's queues, on its way to the host (migrate/queue_types.h).
#pragma once

#include <string_view>
#include <vector>

#include "migrate/queue_types.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// What is to be done of queues that there are. The host asks for it with the status of the configuration,
// part=queue_types: after the start, and after Manager requests for queues and the configuration. An error of
// the store goes to the log, and nothing is to be done then.
std::vector<migrate::QueueType> queue_types(const State& state);

// The host has done what there was to do of a queue: it says so by setting queue_type_done of the
// configuration to the queue's name. Until then it is told of the queue again.
void queue_type_done(State& state, std::string_view queue);

// Does by itself what there is to do, where the host keeps no execution_type: once the store is open, and for
// queues and migrations that come later. A later change of the configuration may be under way: then nothing.
void set_queue_types(State& state, sched::Instant now);
// Are there other queues than at the last call of it?
bool wants_queue_types(const State& state);

}  // namespace pbs::plugin
