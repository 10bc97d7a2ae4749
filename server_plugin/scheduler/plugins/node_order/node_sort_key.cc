// node_sort_key: the order of vnodes. Ignores keys on undefined resources.

#include "server_plugin/scheduler/framework/node_order.h"

namespace pbs::sched {
namespace {

NodeKeys keys(const Settings& s, const Resources& resources) {
    NodeKeys keys;
    for (const SortKey& key : s.node_sort_key) {
        if (key.name == "sort_priority")
            keys.push_back({kNoResource, key.high_first});
        else if (key.name == "load_formula" && !s.load_formula.empty())
            keys.push_back({kLoadKey, key.high_first});
        else if (const auto id = resources.id(key.name); id != kNoResource)
            keys.push_back({id, key.high_first, key.amount});
    }
    return keys;
}

}  // namespace

extern const NodeOrder kNodeSortKeyOrder;
const NodeOrder kNodeSortKeyOrder{.name = "node_sort_key", .keys = keys};

}  // namespace pbs::sched
