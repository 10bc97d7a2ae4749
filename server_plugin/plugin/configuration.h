// Hands new revisions of the configuration to the scheduler.
#pragma once

#include <string>
#include <vector>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Hands the store's configuration to the scheduler, for the next cycle. Logs new settings that the scheduler
// doesn't act on; if many objects have changed, the next ticks go on with that. Returns an empty string, or
// the reason why the scheduler can't use the configuration; then the old one stays in force.
std::string adopt_configuration(State& state);

// Logs settings without effect of some of the changed objects (State::changed_settings).
void tell_of_changed(State& state);

// Logs an object's settings that have no effect, except those that are already logged and unchanged.
void tell_unsupported(State& state, const UnsupportedKey& key, std::vector<std::string> lines);

// Hands the stored usage to the scheduler's new trees of fair shares. While the scheduler is busy this is
// left to a later call.
void load_shares(State& state);

// Reads time zones and the configuration again if files of the tz database were replaced (a package was
// upgraded, a country changed its summer time), because instants of windows may have changed. Logs that.
void follow_zones(State& state, sched::Instant now);

// Commits staged changes, and hands the store's configuration to the scheduler if it is new. Called before
// anything that reads the configuration, so a configuration that changes many times between two cycles is
// read once.
void settle(State& state);

// Implements pbs_plugin::commit. Returns the reason why staged changes are lost, or an empty string.
std::string commit(State& state);

}  // namespace pbs::plugin
