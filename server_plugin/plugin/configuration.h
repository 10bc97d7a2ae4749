// Takes new revisions of the configuration to the scheduler.
#pragma once

#include <string>
#include <vector>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Gives the store's configuration to the scheduler; it is in force in the next cycle. The log is told, once,
// of settings that the scheduler doesn't act on; where many objects changed, in the next ticks. Returns the
// reason why the scheduler can't use it (the old one stays in force), or an empty string.
std::string adopt_configuration(State& state);

// Tells the log of some of the objects that changed (State::changed_settings).
void tell_of_changed(State& state);

// Tells the log of an object's settings that have no effect, except those that it was told of before and
// that still hold.
void tell_unsupported(State& state, const UnsupportedKey& key, std::vector<std::string> lines);

// Gives the scheduler the stored usage of trees of fair shares that it has begun to keep; later, if it is at
// work.
void load_shares(State& state);

// Reads zones and configuration again when files of the tz database were replaced (a package was upgraded, a
// country changed its summer time): instants of windows may have changed. The log is told.
void follow_zones(State& state, sched::Instant now);

// Commits staged changes, and gives the scheduler the store's configuration unless it has that: to be called
// before anything that reads the configuration. So a configuration that changes many times between two cycles
// is read once.
void settle(State& state);

// pbs_plugin::commit. Returns the reason why staged changes are lost, or an empty string.
std::string commit(State& state);

}  // namespace pbs::plugin
