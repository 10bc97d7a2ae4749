// The plugin's life: from the loaded shared object to a plugin that is ready, and its end.
#pragma once

#include <string>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Opens the store, migrates legacy files if this is the first start, and gives configuration and past usage
// to the scheduler. Done once: by start(), or by the first job that the host tells of before it, because the
// start of a job is charged by the policy in force. An error is in state.failure.
void prepare(State& state, sched::Instant now);

// pbs_plugin::start. Returns the reason why the plugin can't serve, or an empty string.
std::string start(State& state, sched::Instant now);

// Saves data that is only in memory, before pbs_plugin::stop frees the state.
void save_all(State& state, sched::Instant now);

}  // namespace pbs::plugin
