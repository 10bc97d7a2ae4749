// Adds the plugin's attributes when the host describes one of its own objects, as for `list server`, `list
// queue` and `list sched` of qmgr.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "objects/schema.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Adds the plugin's attributes of one object to the reply.
using Shower = void (*)(State& state, sched::Instant now, std::string_view name, Reply& reply);

// show_kept() adds the stored attributes of an object, show_sched() the computed ones of a scheduler.
// status_attrs() in show.cc calls them.
void show_kept(State& state, objects::ObjectType type, std::string_view name, Reply& reply);
void show_sched(State& state, sched::Instant now, std::string_view name, Reply& reply);

// The schedulers whose policy in force names a quota, for the attribute in_force of quotas.
class QuotasInForce {
  public:
    // Finds the schedulers of all quotas.
    QuotasInForce(State& state, sched::Instant now);
    // Returns the names of a quota's schedulers, separated by commas; empty: there are none.
    std::string_view scheds_of(std::string_view quota) const;

  private:
    std::map<std::string, std::string, std::less<>> scheds_;  // by quota
};

// Returns whether the attribute is only computed for replies, so that it can't be set.
bool is_shown_only(objects::ObjectType type, std::string_view attribute);

// Implements pbs_plugin::status_attrs.
void status_attrs(State& state, sched::Instant now, int32_t object_type, std::string_view name, Reply reply);

}  // namespace pbs::plugin
