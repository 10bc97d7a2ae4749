// Reports settings of the server's queues that the policy in force doesn't act on (objects/unsupported.h),
// and the queues of other servers from which jobs are pulled.
#pragma once

#include <span>
#include <string_view>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Called by events: note_queue() stores a queue's settings, forget_queue() forgets them. The settings are
// logged after the next cycle.
void note_queue(State& state, const sched::QueueRecord& queue);
void forget_queue(State& state, uint64_t queue);

// Called after a cycle of this scheduler. Logs the settings of queues that have no effect, each once: for the
// queues that have changed since its last cycle; or for all its queues, if another policy has come into
// force.
void tell_of_queues(State& state, std::string_view sched, sched::Instant now);

// Implements pbs_plugin::peer_queues.
void tell_peer_queues(State& state, sched::Instant now, std::string_view sched, Reply reply);

// Implements pbs_plugin::not_acted_on.
void warn_of_queue(State& state, sched::Instant now, std::string_view name, std::string_view partition,
                   std::span<const pbs_attr> attributes, Reply reply);

}  // namespace pbs::plugin
