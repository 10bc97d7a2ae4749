// Attributes that the plugin adds when the host describes one of its own objects: list server, list queue,
// list sched.
#pragma once

#include <string_view>

#include "objects/schema.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Adds attributes of one object through `reply`.
using Shower = void (*)(State& state, sched::Instant now, std::string_view name, Reply& reply);

// Showers, one in each file. The list is in show.cc.
void show_kept(State& state, objects::ObjectType type, std::string_view name, Reply& reply);
void show_sched(State& state, sched::Instant now, std::string_view name, Reply& reply);

// Is this attribute only computed for lists, so that it can't be set?
bool is_shown_only(objects::ObjectType type, std::string_view attribute);

// Implements pbs_plugin::status_attrs.
void status_attrs(State& state, sched::Instant now, int32_t object_type, std::string_view name, Reply reply);

}  // namespace pbs::plugin
