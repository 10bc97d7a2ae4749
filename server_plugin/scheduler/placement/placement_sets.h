// Placement sets: the vnodes of a pool that have the same value of a resource (place=group=, node_group_key).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/placement/fit_index.h"
#include "server_plugin/scheduler/placement/inventory.h"

namespace pbs::sched {

struct PlacementSet {
    std::string name;  // "rack=r1"; rack="" for vnodes without a value
    bool is_rest;      // the set of the vnodes without a value
    std::vector<VnodeSlot> vnodes;
    std::vector<bool> has;  // by vnode: whether it is in the set
    // The sums of the vnodes' total amounts, and of their free amounts. A vnode that takes no jobs counts
    // only with the amounts that jobs hold.
    Row total;
    Row free;

    // Returns whether the request may be in the set by its sums: as in OpenPBS, if neither a single chunk nor
    // all chunks together exceed them. `amounts`: the total or the free row.
    bool may_hold(const Inventory& inventory, const Request& request, const NodeSize& node_size,
                  const Row& amounts) const;
    // Returns whether the request could be in the set if nothing ran, by the total row and, with per_host, by
    // the number of hosts that have room for per_host chunks.
    bool may_hold_if_empty(const Inventory& inventory, const Request& request, const PlaceRules& rules) const;
};

// The rules for making and sorting placement sets.
struct SetRules {
    const Resources& resources;
    bool by_memory = true;  // memory counts for the size of a set; in OpenPBS, if any job requests memory
    bool ahead = false;     // the free amounts are those of a later instant (Lookahead)
    bool spans = true;      // a request that fits into no set may use several
    bool only_explicit = false;  // vnodes without a value form no set
    std::string_view only = {};  // the set of this name; empty: any
};

class PlacementSets {
  public:
    // Returns the sets by the values of the resources, the smallest first: by CPUs, then memory, then the
    // free amounts of both. A vnode with several values is in several sets. Valid until the next call.
    // O(vnodes) if anything was taken or given back since, or in a look-ahead.
    const std::vector<const PlacementSet*>& of(const Inventory& inventory, PoolId pool,
                                               std::span<const VnodeSlot> vnodes,
                                               std::span<const std::uint32_t> resources,
                                               const SetRules& rules);

  private:
    struct Division {
        std::uint64_t changes = 0;  // Inventory::changes() + 1 of the sums; 0: outdated
        bool by_memory = true;      // the order counts memory
        std::vector<PlacementSet> sets;
        std::vector<const PlacementSet*> in_order;
    };
    static void divide(const Inventory& inventory, std::span<const VnodeSlot> vnodes,
                       std::span<const std::uint32_t> resources, const Resources& names, Division& division);
    static void sum_up(const Inventory& inventory, bool by_memory, Division& division);

    std::uint64_t version_ = 0;  // Inventory::version() of the divisions
    std::map<std::pair<PoolId, std::vector<std::uint32_t>>, Division> divisions_;
};

}  // namespace pbs::sched
