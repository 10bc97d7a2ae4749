// Makes the plugin ready for work after its shared object was loaded, and saves its data at the end.
#pragma once

#include <string>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Opens the store, migrates legacy files at the first start, and hands configuration and past usage to the
// scheduler. Runs once: in start(), or before that at the host's first event about a job, because the policy
// in force determines what a job's start is charged. Stores an error in state.failure.
void prepare(State& state, sched::Instant now);

// Implements pbs_plugin::start. Returns an empty string, or the reason why the plugin can't work.
std::string start(State& state, sched::Instant now);

// Saves the data that are only in memory. Call this before pbs_plugin::stop frees the state.
void save_all(State& state, sched::Instant now);

}  // namespace pbs::plugin
