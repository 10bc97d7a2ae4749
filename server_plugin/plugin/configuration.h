// A new revision of the configuration reaches the scheduler.
#pragma once

#include <string>
#include <vector>

#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Gives what the store holds to the scheduler; it is in force in the next cycle. The log tells, once, of
// settings that the scheduler doesn't act on, where many objects changed with the next ticks. Returns why the
// scheduler can't use it (the old one stays in force), or an empty string.
std::string adopt_configuration(State& state);

// Tells the log of some of the objects that changed (State::changed_settings).
void tell_of_changed(State& state);

// The log tells of an object's settings that aren't acted on, but for those that it has told of and that hold
// still.
void tell_unsupported(State& state, const UnsupportedKey& key, std::vector<std::string> lines);

// Gives the scheduler what is stored of trees of fair shares that it has begun to keep; later, if it is at
// work.
void load_shares(State& state);

// Reads zones and configuration again when files of the tz database were replaced (a package was upgraded, a
// country changed its summer time): instants of windows may be others then. The log tells of it.
void follow_zones(State& state, sched::Instant now);

// Commits what is staged, and gives the scheduler what the store then holds unless it has that: to be called
// before whatever reads the configuration. So a configuration that changes many times between two cycles is
// read once.
void settle(State& state);

// pbs_plugin::commit. Returns why what was staged is lost, or an empty string.
std::string commit(State& state);

}  // namespace pbs::plugin
