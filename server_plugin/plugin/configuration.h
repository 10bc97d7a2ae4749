// Hands new revisions of the configuration to the scheduler.
#pragma once

#include <string>
#include <vector>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Hands the store's configuration to the scheduler, for the next cycle. Logs new settings that have no
// effect; if many objects have changed, the next ticks log the remaining ones. Returns an empty string, or
// the reason why the scheduler can't use the configuration; then the previous one stays in force.
std::string adopt_configuration(State& state);

// Logs settings that have no effect, for the next 1000 of the objects that have changed
// (State::changed_settings). Later calls handle the remaining objects.
void tell_of_changed(State& state);

// Logs `lines` about an object's settings that have no effect, except lines that were logged before.
void tell_unsupported(State& state, const UnsupportedKey& key, std::vector<std::string> lines);

// Hands the stored usage to new trees of fair shares in the scheduler. Does nothing while the scheduler is
// busy: a later call does it.
void load_shares(State& state);

// If files of the tz database were replaced (by an upgrade of its package, for example after a country has
// changed its summer time), reads the time zones and the configuration again, because boundaries of windows
// may have moved. Logs it.
void follow_zones(State& state, sched::Instant now);

// Commits staged changes, and hands the store's configuration to the scheduler if it is new. It is called
// before the configuration is read, and not at each change, so that many changes between two cycles are read
// once.
void settle(State& state);

// Implements pbs_plugin::commit. Returns an empty string, or the reason why the staged changes are lost.
std::string commit(State& state);

}  // namespace pbs::plugin
