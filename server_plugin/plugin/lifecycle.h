// The plugin's start, from the loaded shared object to a plugin that is ready, and its end.
#pragma once

#include <string>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Opens the store, migrates legacy files at the first start, and hands configuration and past usage to the
// scheduler. Done once: by start(), or before it by the host's first event about a job, because the policy in
// force decides how a job's start is charged. An error is in state.failure.
void prepare(State& state, sched::Instant now);

// Implements pbs_plugin::start. Returns an empty string, or the reason why the plugin can't serve.
std::string start(State& state, sched::Instant now);

// Saves the data that is only in memory. Call before pbs_plugin::stop frees the state.
void save_all(State& state, sched::Instant now);

}  // namespace pbs::plugin
