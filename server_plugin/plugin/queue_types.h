// Passes on the execution_types that a migration gives to queues: to the host, which sets them, or into the
// store (migrate/queue_types.h).
#pragma once

#include <string_view>
#include <vector>

#include "migrate/queue_types.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Returns the execution_types that still have to be set, of existing queues. The host asks for them by the
// status of the configuration with part=queue_types: after the start, and after Manager requests for queues
// and for the configuration. An error of the store is logged, and the list is then empty.
std::vector<migrate::QueueType> queue_types(const State& state);

// Notes that the host has set a queue's type. The host reports it by setting queue_type_done of the
// configuration to the queue's name. Until then queue_types() lists the queue.
void queue_type_done(State& state, std::string_view queue);

// If the host has no execution_type, because it has pbs_sched, sets the types in the store: when the store is
// opened, and later for new queues and migrations. Does nothing during a long change of the configuration.
void set_queue_types(State& state, sched::Instant now);
// Returns when set_queue_types() has to be called: now, if queues have changed since it last succeeded, or a
// minute after it has failed; the end of time if they haven't.
sched::Instant next_queue_types(const State& state, sched::Instant now);

}  // namespace pbs::plugin
