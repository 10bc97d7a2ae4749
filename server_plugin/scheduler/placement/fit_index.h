// Where a request fits, without a walk over all vnodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/placement/inventory.h"
#include "server_plugin/scheduler/placement/maxima_tree.h"
#include "server_plugin/scheduler/placement/node_keys.h"

namespace pbs::sched {

using PoolId = std::uint32_t;

// Is each chunk given from one vnode, or may the vnodes of a host have pieces of it?
enum class Chunks : std::uint8_t { whole, divided };

// What counts of an amount that is free, so that those of so many vnodes can be added up.
inline std::int64_t counted(std::int64_t amount, std::size_t vnodes) {
    return std::clamp<std::int64_t>(
        amount, 0, std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(vnodes));
}

// What keeps a request from a place, in amounts of one resource.
struct Shortage {
    std::uint32_t resource = no_resource;  // no_resource: none by itself
    bool never = false;                    // not even if nothing ran
    std::int64_t asked = 0;                // by the whole job, or by one of its chunks
    std::int64_t free = 0;                 // on all vnodes, or on the one (or the host) with most
    std::int64_t total = 0;
    std::string unmatched;  // of a resource that has to be equal: what is asked for and what there is
};

// A pool is the set of vnodes that a queue may use. Each has a tree over its vnodes; where chunks are
// divided, as the standard algorithm does it, vnodes are in the order of their hosts, and a second tree has
// what the vnodes of each host have together. Trees are brought up to date when they are next looked at: most
// of what a cycle takes and gives back is then as it was.
class FitIndex {
  public:
    // Positions in a pool, from the first one to before the last one.
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t end = 0;
    };
    // What vnodes have and what is free of it, by column; `most` of a vnode or, where chunks are divided, of
    // a host.
    struct Amounts {
        std::uint64_t as_of = 0;  // Inventory::changes(), and 1
        Row free, total, most_free, most;
        Row most_free_of_host, most_of_host;
    };
    struct Pool {
        Chunks chunks = Chunks::whole;
        std::vector<VnodeSlot> vnodes;
        MaximaTree tree;
        // Where chunks are whole: the positions of the vnodes of each host that has several, by the first of
        // them.
        std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> shared_hosts;
        // Where they are divided: the hosts with several vnodes; by position which of them a vnode is on, and
        // 1 (0: its host has no other); and what their open vnodes have together.
        std::vector<Range> hosts;
        std::vector<std::uint32_t> host_of;
        MaximaTree host_tree;
        Amounts amounts;
    };

    // The vnodes for a queue: those bound to it if there are any, else those bound to none; of one partition;
    // of one host unless 0; in this order. The id is valid until
    // Inventory::version() grows.
    PoolId pool(Inventory& inventory, QueueHandle queue, std::uint32_t host, std::uint32_t partition,
                Chunks chunks, const NodeKeys& order);
    // A pool; its trees are as of the last settle().
    const Pool& operator[](PoolId pool) const { return pools_[pool]; }
    bool is_of(const Inventory& inventory, PoolId pool, VnodeSlot vnode) const;
    // The vnodes of the pool that are on the same host as this one; null: it has no other, or chunks are
    // whole.
    const Range* host_in(PoolId pool, VnodeSlot vnode) const;

    // Brings all trees up to date. O(vnodes that changed x log of all).
    void settle(Inventory& inventory);
    // The vnodes of a pool with most of both: whatever fits another vnode fits one of these. A few rooms;
    // where there would be many, one that is as large as all of them. Where chunks are divided, of hosts too.
    std::vector<Columns::Room> largest_rooms(Inventory& inventory, PoolId pool, std::uint32_t first,
                                             std::uint32_t second);
    // Could the request be placed if nothing ran? An upper bound for requests of more than one chunk.
    // O(vnodes x chunks).
    bool large_enough(const Inventory& inventory, PoolId pool, const Request& request,
                      const NodeSize& node_size) const;
    // What keeps a request from a place. To be asked when there is none. O(vnodes) after a change, else
    // O(chunks).
    Shortage shortage(const Inventory& inventory, PoolId pool, const Request& request,
                      const NodeSize& node_size);

    // In the course of a search: so much less (sign -1) or more is free. This pool's trees know of it at
    // once, others' don't: it is given back before one of them is asked.
    void add(Inventory& inventory, PoolId pool, VnodeSlot vnode, const Row& needs, std::int64_t count,
             int sign);
    // Looking ahead: shares are given back (sign 1) and taken (-1). After settle_ahead() the pool tells of
    // it; others don't until all is as it was.
    void look_ahead(Inventory& inventory, std::span<const Inventory::Share> shares, int sign);
    void settle_ahead(const Inventory& inventory, PoolId pool);

  private:
    using PoolKey = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, Chunks, NodeKeys>;

    void drop_void(Inventory& inventory);
    void make(const Inventory& inventory, PoolId id, QueueHandle queue, std::uint32_t host,
              std::uint32_t partition, const NodeKeys& order);
    static void sort_by_host(const Inventory& inventory, Pool& pool);
    static void find_hosts(const Inventory& inventory, Pool& pool);
    static void add_to_host(Pool& pool, std::uint32_t host, const std::int64_t* row, std::uint32_t columns,
                            int sign);
    static void fill(const Inventory& inventory, Pool& pool);
    void update(const Inventory& inventory, PoolId pool, VnodeSlot vnode);
    static void update_at(const Inventory& inventory, Pool& pool, std::uint32_t position);
    static std::int64_t chunks_of_host(const Inventory& inventory, const Pool& pool, const Range& host,
                                       const Chunk& chunk, const Row& needs);
    const Amounts& amounts_of(const Inventory& inventory, PoolId pool);

    std::vector<Pool> pools_;
    std::map<PoolKey, PoolId> ids_;
    std::map<PoolKey, PoolId> asked_;                                      // by whose pool is asked for
    std::vector<std::vector<std::pair<PoolId, std::uint32_t>>> in_pools_;  // by vnode, with its position
    std::vector<VnodeSlot> looked_ahead_;  // vnodes that changed since settle_ahead()
    std::uint64_t version_ = 0;            // Inventory::version() of the pools
};

}  // namespace pbs::sched
