// node_sort_key. Keys about resources that nobody has defined say nothing.

#include "server_plugin/scheduler/framework/node_order.h"

namespace pbs::sched {
namespace {

NodeKeys keys(const Settings& s, const Resources& resources) {
    NodeKeys keys;
    for (const SortKey& key : s.node_sort_key) {
        if (key.changes) continue;
        if (key.name == "sort_priority")
            keys.push_back({no_resource, key.high_first});
        else if (const auto id = resources.id(key.name); id != no_resource)
            keys.push_back({id, key.high_first});
    }
    return keys;
}

}  // namespace

extern const NodeOrder node_sort_key_order;
const NodeOrder node_sort_key_order{.name = "node_sort_key", .keys = keys};

}  // namespace pbs::sched
