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
    std::string name;  // "rack=r1"; rack="" for vnodes without a value
    bool is_rest;      // the set of the vnodes without a value
    std::vector<VnodeSlot> vnodes;
    std::vector<bool> has;  // by vnode
    // The sums of the vnodes' amounts, and of the free ones. A vnode that takes no jobs counts with the
    // amounts that jobs hold only.
    Row total;
    Row free;

    // Can the request be in the set by its sums, where `amounts` is the total or the free row? As OpenPBS
    // asks, yes where each chunk by itself and all together ask for no more than the sums.
    bool may_hold(const Inventory& inventory, const Request& request, const NodeSize& node_size,
                  const Row& amounts) const;
};

// The rules by which placement sets are made and ordered.
struct SetRules {
    const Resources& resources;
    bool by_memory = true;  // memory counts in the size of a set; OpenPBS has it so if some job asks for any
    bool ahead = false;     // free amounts are asked for while looking ahead
    bool spans = true;      // a request that fits no set may be on vnodes of several
    bool only_explicit = false;  // vnodes without a value form no set
};

class PlacementSets {
  public:
    // Returns the sets by the values of the resources, the smallest first: by CPUs, then memory, then the
    // free amounts of both. A vnode with several values is in several sets. Valid until the next call.
    // O(vnodes) if anything was taken or given back since, or while looking ahead.
    const std::vector<const PlacementSet*>& of(const Inventory& inventory, PoolId pool,
                                               std::span<const VnodeSlot> vnodes,
                                               std::span<const std::uint32_t> resources,
                                               const SetRules& rules);

  private:
    struct Division {
        std::uint64_t changes = 0;  // Inventory::changes() + 1 when summed up; 0: the sums are outdated
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
