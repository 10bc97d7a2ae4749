// What the server's queues and the policy in force have to do with each other: what the server keeps of them
// and the policy doesn't act on (objects/unsupported.h), and what is pulled into them.
#pragma once

#include <span>
#include <string_view>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Events: what there is to tell of the queue is told after the next cycle.
void note_queue(State& state, const sched::QueueRecord& queue);
void forget_queue(State& state, uint64_t queue);

// After a cycle of this scheduler: the log tells, once, of queues that have changed since the last one, and
// of all of its queues if it goes by another policy now.
void tell_of_queues(State& state, std::string_view sched, sched::Instant now);

// pbs_plugin::peer_queues.
void tell_peer_queues(State& state, sched::Instant now, std::string_view sched, Reply reply);

// pbs_plugin::not_acted_on.
void warn_of_queue(State& state, sched::Instant now, std::string_view name, std::string_view partition,
                   std::span<const pbs_attr> attributes, Reply reply);

}  // namespace pbs::plugin
