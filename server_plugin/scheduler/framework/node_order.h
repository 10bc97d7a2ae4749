// Node order: the order in which vnodes are searched for a job's place. The first vnodes with enough free
// amounts are taken. Keys about assigned or unused amounts use the amounts at the time of the search; in a
// look-ahead, the future ones.
//
// To add one: write an `extern const NodeOrder k<Name>Order` into plugins/node_orders.cc, and name it in the
// profiles that have it.
#pragma once

#include "server_plugin/scheduler/model/settings.h"
#include "server_plugin/scheduler/placement/node_keys.h"

namespace pbs::sched {

struct NodeOrder {
    const char* name;
    NodeKeys (*keys)(const Settings& settings, const Resources& resources);
    // The order for jobs whose place has keys of its own (node_sort_key_of_place); null: such jobs have the
    // same order as all others.
    NodeKeys (*of_place)(const Settings& settings, const Resources& resources,
                         const KeysOfPlace& place) = nullptr;
};

}  // namespace pbs::sched
