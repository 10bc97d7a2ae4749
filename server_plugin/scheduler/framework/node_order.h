// Node order: in which order a place for a job is looked for. The first vnodes that have room are taken. Keys
// about what is assigned or unused count as it is when the place is looked for; in a look-ahead, as it will
// be.
//
// To add one: write plugins/node_order/<name>.cc with a `const NodeOrder <name>_order`, and name it in the
// profiles that have it.
#pragma once

#include "server_plugin/scheduler/model/settings.h"
#include "server_plugin/scheduler/placement/node_keys.h"

namespace pbs::sched {

struct NodeOrder {
    const char* name;
    NodeKeys (*keys)(const Settings& settings, const Resources& resources);
};

}  // namespace pbs::sched
