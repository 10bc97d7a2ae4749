// The order in which a search tries the vnodes of a pool.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "server_plugin/scheduler/model/resources.h"

namespace pbs::sched {

// By what a vnode has of a resource in all, where it has none 0; or by its priority.
struct NodeKey {
    std::uint32_t resource = no_resource;  // no_resource: its priority
    bool high_first = true;
    friend auto operator<=>(const NodeKey&, const NodeKey&) = default;
};

// Vnodes that are equal by all keys are in the order in which they were made.
using NodeKeys = std::vector<NodeKey>;

}  // namespace pbs::sched
