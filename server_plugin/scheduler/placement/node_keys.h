// The keys by which the vnodes of a pool, those that a queue may use, are sorted for a search.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "server_plugin/scheduler/model/resources.h"
#include "server_plugin/scheduler/model/setting_types.h"

namespace pbs::sched {

// NodeKey::resource of a key that compares loads by load_formula.
constexpr std::uint32_t kLoadKey = kNoResource - 1;

// A key of the order: the amount of a resource on a vnode (0 if it has none), the vnode's priority, or its
// load.
struct NodeKey {
    std::uint32_t resource = kNoResource;  // kNoResource: the vnode's priority; kLoadKey: load_formula
    bool high_first = true;
    SortAmount amount = SortAmount::total;
    std::uint32_t load_order = 0;  // with kLoadKey: the number of the order (HostLoads)
    bool is_load() const { return resource == kLoadKey; }
    // Returns whether the order by this key changes as jobs start and end.
    bool moves() const { return is_load() || (resource != kNoResource && amount != SortAmount::total); }
    friend auto operator<=>(const NodeKey&, const NodeKey&) = default;
};

// Vnodes with equal keys stay in the order of their creation.
using NodeKeys = std::vector<NodeKey>;

}  // namespace pbs::sched
