// An index that finds where a request fits without a walk over all vnodes.
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
#include "server_plugin/scheduler/placement/node_keys.h"
#include "server_plugin/scheduler/placement/ordered_tree.h"

namespace pbs::sched {

using PoolId = std::uint32_t;

// Is each chunk given from one vnode, or may the vnodes of a host give pieces of it?
enum class Chunks : std::uint8_t { whole, divided };

// Returns the part of a free amount that is counted: it is limited so that the sum over `vnodes` vnodes
// doesn't overflow.
inline std::int64_t counted(std::int64_t amount, std::size_t vnodes) {
    return std::clamp<std::int64_t>(
        amount, 0, std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(vnodes));
}

// The resource for want of which a request can't be placed, with amounts.
struct Shortage {
    std::uint32_t resource = kNoResource;  // kNoResource: there is enough of each resource by itself
    bool never = false;                    // it would be lacking even if nothing ran
    std::int64_t asked = 0;                // the amount that the whole job, or one of its chunks, asks for
    std::int64_t free = 0;  // the amount free on all vnodes, or on the vnode or host with most of it
    std::int64_t total = 0;
    // For a resource whose value has to be equal: the wanted value and the values that vnodes have.
    std::string unmatched;
    bool vnodes = false;  // too few vnodes are free
};

// A pool is the set of vnodes that a queue may use. Each pool has a tree over its vnodes, in their order.
// Where chunks are divided, as in the standard algorithm, the tree is over hosts: the row of a host is the
// sum of its vnodes, and each host of several vnodes has a tree over these. A tree is brought up to date when
// it is next looked at: by then most of a cycle's changes have been taken back.
//
// If a key of the order is about assigned or unused amounts, vnodes and hosts move as these change. Hosts are
// in the order of their first vnodes.
class FitIndex {
  public:
    // Amounts of a pool by column: the sums over all vnodes, and the most that one vnode or one host has;
    // both in all and free.
    struct Amounts {
        std::int64_t free_vnodes = 0;  // is_free() in shortage.cc
        std::uint64_t as_of = 0;       // Inventory::changes() + 1; 0: never worked out
        Row free, total, most_free, most;
        Row most_free_of_host, most_of_host;
    };
    // The vnodes of a host: a range of Pool::vnodes.
    struct Host {
        std::uint32_t first = 0;
        std::uint32_t end = 0;
        std::uint32_t tree = kNoSlot;  // for several vnodes: the index in Pool::host_trees
        bool is_shared() const { return tree != kNoSlot; }
    };
    struct Pool {
        Chunks chunks = Chunks::whole;
        NodeKeys keys{};  // keys that make the order change; empty: it doesn't
        std::vector<VnodeSlot> vnodes{};
        OrderedTree tree{};  // over vnodes, or over hosts
        // Where chunks are whole: for each host with several vnodes, their indices in `vnodes`.
        std::vector<std::vector<std::uint32_t>> shared_hosts{};
        // Where chunks are divided: all hosts, and the index in `hosts` of the host of each of `vnodes`.
        std::vector<Host> hosts{};
        std::vector<std::uint32_t> host_of{};
        std::vector<OrderedTree> host_trees{};  // over the vnodes of hosts
        Amounts amounts{};
        bool moves() const { return !keys.empty(); }
    };

    // Returns the pool of a queue, in the given order: the vnodes bound to the queue or, if there are none,
    // the vnodes bound to no queue. The pool has only vnodes of the partition and, if `host` isn't 0, of the
    // host. The id is valid until Inventory::version() grows.
    PoolId pool(Inventory& inventory, QueueHandle queue, std::uint32_t host, std::uint32_t partition,
                Chunks chunks, const NodeKeys& order);
    // Returns a pool. Its trees are as they were at the last settle().
    const Pool& operator[](PoolId pool) const { return pools_[pool]; }
    bool is_of(const Inventory& inventory, PoolId pool, VnodeSlot vnode) const;
    // Returns the index in Pool::hosts of the host of this vnode of the pool; kNoSlot if chunks are whole.
    std::uint32_t host_in(PoolId pool, VnodeSlot vnode) const;
    // Has any host of the site several vnodes?
    bool has_shared_hosts() const { return has_shared_hosts_; }

    // Brings all trees up to date. O(vnodes that changed x log of all).
    void settle(Inventory& inventory);
    // Returns the largest rooms among the vnodes of a pool, by two resources: whatever fits any vnode of the
    // pool fits one of these rooms. Where chunks are divided, the rooms of hosts are among them. If there
    // would be many, a single one that is as large as all of them stands for them.
    std::vector<Columns::Room> largest_rooms(Inventory& inventory, PoolId pool, std::uint32_t first,
                                             std::uint32_t second);
    // Could the request be placed if nothing ran? For requests of more than one chunk the answer may be yes
    // where it should be no. O(vnodes x chunks).
    bool large_enough(const Inventory& inventory, PoolId pool, const Request& request,
                      const NodeSize& node_size) const;
    // Returns the resource for want of which a request can't be placed. The caller asks only when there is no
    // place.
    Shortage shortage(const Inventory& inventory, PoolId pool, const Request& request,
                      const NodeSize& node_size);

    // Changes the free amounts of a vnode in the course of a search: `count` times `needs` less (sign -1) or
    // more (sign 1). Only the trees of this pool are updated, so the caller undoes it before it asks another
    // pool.
    void add(Inventory& inventory, PoolId pool, VnodeSlot vnode, const Row& needs, std::int64_t count,
             int sign);
    // Gives shares back (sign 1) or takes them (sign -1) while the scheduler looks ahead. Call settle_ahead()
    // afterwards to update one pool. The other pools can't be asked until all shares are as they were.
    void look_ahead(Inventory& inventory, std::span<const Inventory::Share> shares, int sign);
    void settle_ahead(const Inventory& inventory, PoolId pool);

  private:
    using PoolKey = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, Chunks, NodeKeys>;

    void drop_void(Inventory& inventory);
    void make(const Inventory& inventory, PoolId id, QueueHandle queue, std::uint32_t host,
              std::uint32_t partition, const NodeKeys& order);
    static void sort_by_host(const Inventory& inventory, Pool& pool);
    static void find_hosts(const Inventory& inventory, Pool& pool);
    static void fill(const Inventory& inventory, Pool& pool);
    static void fill_host(const Inventory& inventory, Pool& pool, std::uint32_t host);
    void update(const Inventory& inventory, PoolId pool, VnodeSlot vnode);
    static void update_at(const Inventory& inventory, Pool& pool, std::uint32_t index);
    static std::int64_t chunks_of_host(const Inventory& inventory, const Pool& pool, const Host& host,
                                       const Chunk& chunk, const Row& needs);
    const Amounts& amounts_of(const Inventory& inventory, PoolId pool);

    std::vector<Pool> pools_;
    std::map<PoolKey, PoolId> ids_;
    std::map<PoolKey, PoolId> asked_;  // by the queue that asks, which may share a pool
    // For each vnode, its pools and its index in Pool::vnodes of each.
    std::vector<std::vector<std::pair<PoolId, std::uint32_t>>> in_pools_;
    std::vector<VnodeSlot> looked_ahead_;  // vnodes that changed since the last settle_ahead()
    std::uint64_t version_ = 0;            // Inventory::version() when the pools were made
    bool has_shared_hosts_ = false;
};

}  // namespace pbs::sched
