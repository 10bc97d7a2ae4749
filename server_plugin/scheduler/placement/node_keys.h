// The order in which a search tries the vnodes of a pool.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "server_plugin/scheduler/model/resources.h"
#include "server_plugin/scheduler/model/setting_types.h"

namespace pbs::sched {

// A key of the order: the amount of a resource on a vnode (0 if it has none), or the vnode's priority.
struct NodeKey {
    std::uint32_t resource = kNoResource;  // kNoResource: the vnode's priority
    bool high_first = true;
    SortAmount amount = SortAmount::total;
    // Does the order change as jobs start and end?
    bool moves() const { return resource != kNoResource && amount != SortAmount::total; }
    friend auto operator<=>(const NodeKey&, const NodeKey&) = default;
};

// Vnodes with equal keys stay in the order of their creation.
using NodeKeys = std::vector<NodeKey>;

}  // namespace pbs::sched
