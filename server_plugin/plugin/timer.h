// Does work that is due at an instant: switches of policies, decay and saving of past usage.
#pragma once

#include <cstdint>
#include <string_view>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Implements pbs_plugin::next_deadline. Returns the instant at which tick() has work, or INT64_MAX.
int64_t next_deadline(State& state, sched::Instant now);

// Writes the file of past usage, sched_priv/decay_usage, if a policy in force keeps past usage.
void write_usage_file(State& state, sched::Instant now);

// Implements pbs_plugin::wanted. Returns the bits of enum pbs_wanted of one scheduler, as of the last tick().
uint32_t wanted(const State& state, std::string_view sched);

// Implements pbs_plugin::tick. Returns bits of enum pbs_wanted.
uint32_t tick(State& state, sched::Instant now);

}  // namespace pbs::plugin
