// Placement sets: the vnodes of a pool that have the same value of a resource (place=group=, node_group_key).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/placement/fit_index.h"
#include "server_plugin/scheduler/placement/inventory.h"

namespace pbs::sched {

struct PlacementSet {
    std::string name;  // "rack=r1"; of vnodes that have no value, rack=""
    bool is_rest;      // of these
    std::vector<VnodeSlot> vnodes;
    std::vector<bool> has;  // by vnode
    // What the vnodes have together, and what is free of it. Of a vnode that takes no jobs only what jobs
    // hold counts.
    Row total;
    Row free;

    // Could the request be in the set as far as its sums tell, if nothing ran, or now? As OpenPBS asks, that
    // is yes where each chunk by itself and all together ask for no more than there is in sum.
    bool may_hold(const Inventory& inventory, const Request& request, const NodeSize& node_size,
                  const Row& amounts) const;
};

// What sets are asked for with.
struct SetRules {
    const Resources& resources;
    bool by_memory = true;  // memory counts in the size of a set; OpenPBS has it so if some job asks for any
    bool ahead = false;     // what is free is looked for ahead of time
    bool spans = true;      // what fits no set may be on vnodes of several
    bool only_explicit = false;  // vnodes that have no value are no set
};

class PlacementSets {
  public:
    // Returns the sets by the values of the resources, the smallest first: by the CPUs that they have, their
    // memory, and what is free of both. A vnode with several values is in several sets. Valid until the next
    // call. O(vnodes) if anything was taken or given back since, or ahead of time.
    const std::vector<const PlacementSet*>& of(const Inventory& inventory, PoolId pool,
                                               std::span<const VnodeSlot> vnodes,
                                               std::span<const std::uint32_t> resources,
                                               const SetRules& rules);

  private:
    struct Division {
        std::uint64_t changes = 0;  // Inventory::changes() + 1 of the sums; 0: they aren't of now
        bool by_memory = true;      // in the order
        std::vector<PlacementSet> sets;
        std::vector<const PlacementSet*> in_order;
    };
    static void divide(const Inventory& inventory, std::span<const VnodeSlot> vnodes,
                       std::span<const std::uint32_t> resources, const Resources& names, Division& division);
    static void sum_up(const Inventory& inventory, bool by_memory, Division& division);

    std::uint64_t version_ = 0;  // of the inventory
    std::map<std::pair<PoolId, std::vector<std::uint32_t>>, Division> divisions_;
};

}  // namespace pbs::sched
