// The node orders of the profiles.

#include "server_plugin/scheduler/framework/node_order.h"

namespace pbs::sched {
namespace {

void add(NodeKeys& keys, const std::vector<SortKey>& of, const Settings& s, const Resources& resources) {
    for (const SortKey& key : of) {
        if (key.name == "sort_priority")
            keys.push_back({kNoResource, key.high_first});
        else if (key.name == "load_formula" && !s.load_formula.empty())
            keys.push_back({kLoadKey, key.high_first});
        else if (const auto id = resources.id(key.name); id != kNoResource)
            keys.push_back({id, key.high_first, key.amount});
    }
}

NodeKeys keys(const Settings& s, const Resources& resources) {
    NodeKeys keys;
    add(keys, s.node_sort_key, s, resources);
    return keys;
}

NodeKeys keys_of_place(const Settings& s, const Resources& resources, const KeysOfPlace& place) {
    NodeKeys keys;
    add(keys, place.keys, s, resources);
    add(keys, s.node_sort_key, s, resources);
    return keys;
}

}  // namespace

// node_sort_key and node_sort_key_of_place. Ignores keys on undefined resources.
extern const NodeOrder kNodeSortKeyOrder{.name = "node_sort_key", .keys = keys, .of_place = keys_of_place};

// The Priority of vnodes, the highest first.
extern const NodeOrder kPriorityOrder{
    .name = "priority",
    .keys =
        [](const Settings&, const Resources&) {
            return NodeKeys{{kNoResource, true}};
        },
};

}  // namespace pbs::sched
