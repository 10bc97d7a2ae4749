// The class FitIndex: finds the vnodes on which a request fits, without a walk over all vnodes.
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

// `whole`: each chunk comes from one vnode. `divided`: several vnodes of a host may give pieces of a chunk.
enum class Chunks : std::uint8_t { whole, divided };

// Returns the counted part of a free amount: bounded so that the sum over `vnodes` vnodes doesn't overflow.
inline std::int64_t counted(std::int64_t amount, std::size_t vnodes) {
    return std::clamp<std::int64_t>(
        amount, 0, std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(vnodes));
}

// The resource that is missing for a request, with amounts.
struct Shortage {
    std::uint32_t resource = kNoResource;  // kNoResource: each resource alone is sufficient
    bool never = false;                    // the resource would be missing even if nothing ran
    std::int64_t asked = 0;                // the amount for the whole job, or for one of its chunks
    std::int64_t free = 0;                 // the free amount on all vnodes, or on the vnode or host with most
    std::int64_t total = 0;
    // For a resource whose value has to match: the requested value, and the values that vnodes have.
    std::string unmatched;
    bool vnodes = false;  // too few vnodes are free
};

// Finds the vnodes of a pool on which a request fits, by trees over the vnodes.
//
// A pool is the set of vnodes that a queue may use. Each pool has a tree over its vnodes, in their order. If
// chunks are divided, as in the standard algorithm, the tree is over hosts: the row of a host is the sum of
// its vnodes, and each host with several vnodes has a tree over these. A tree is updated when it is used
// next: by then most of a cycle's changes have been undone.
//
// If a key of the order depends on assigned or unused amounts, vnodes and hosts move when these change. Hosts
// are in the order of their first vnodes.
class FitIndex {
  public:
    // Amounts of a pool by column: the sums over all vnodes, and the most of any vnode and of any host; both
    // total and free.
    struct Amounts {
        std::int64_t free_vnodes = 0;  // vnodes for which is_free() (shortage.cc) is true
        Row free, total, most, most_of_host;
        // For each of Pool::vnodes: whether the vnode isn't counted at all, whether it counts in
        // `free_vnodes`, and a row with the amounts that count in `free`.
        std::vector<bool> is_left_out;
        std::vector<bool> is_free;
        std::vector<std::int64_t> counted;
        std::uint64_t most_as_of = 0;  // Inventory::changes() + 1 of these; 0: never computed
        Row most_free, most_free_of_host;
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
        NodeKeys keys{};  // keys that make the order change; empty: it is fixed
        std::vector<VnodeSlot> vnodes{};
        OrderedTree tree{};  // over vnodes, or over hosts
        // If chunks are whole: for each host with several vnodes, their indices in `vnodes`.
        std::vector<std::vector<std::uint32_t>> shared_hosts{};
        // If chunks are divided: all hosts; and for each of `vnodes` the index of its host in `hosts`.
        std::vector<Host> hosts{};
        std::vector<std::uint32_t> host_of{};
        std::vector<OrderedTree> host_trees{};  // over the vnodes of hosts
        // The pool's amounts without the vnodes that have one of the resources in the key.
        std::map<std::vector<std::uint32_t>, Amounts> amounts{};
        bool moves() const { return !keys.empty(); }
        // Returns whether the order may change although no amounts change.
        bool by_load() const { return std::ranges::any_of(keys, &NodeKey::is_load); }
    };

    // Returns the pool of a queue, in the given order: the vnodes bound to the queue or, if there are none,
    // the vnodes bound to no queue. It has only vnodes of the partition and, if `host` isn't 0, of the host.
    // The id is valid until Inventory::version() grows.
    PoolId pool(Inventory& inventory, QueueHandle queue, std::uint32_t host, std::uint32_t partition,
                Chunks chunks, const NodeKeys& order);
    // Returns a pool, with its trees as of the last settle().
    const Pool& operator[](PoolId pool) const { return pools_[pool]; }
    bool is_of(const Inventory& inventory, PoolId pool, VnodeSlot vnode) const;
    // Returns the index in Pool::hosts of the host of this vnode of the pool; kNoSlot if chunks are whole.
    std::uint32_t host_in(PoolId pool, VnodeSlot vnode) const;
    // Returns whether any host of the site has several vnodes.
    bool has_shared_hosts() const { return has_shared_hosts_; }

    // Updates all trees. O(vnodes that changed x log of all).
    void settle(Inventory& inventory);
    // Returns the largest pairs of free amounts of two resources among the vnodes of a pool (if chunks are
    // divided, among its hosts, too): whatever fits on any of them fits into one of these pairs. If there
    // were many, returns a single pair that is as large as all of them.
    std::vector<Columns::Room> largest_rooms(Inventory& inventory, PoolId pool, std::uint32_t first,
                                             std::uint32_t second);
    // Returns whether the request could be placed if nothing ran. For a request of several chunks, true may
    // be wrong. O(vnodes x chunks).
    bool large_enough(const Inventory& inventory, PoolId pool, const Request& request,
                      const NodeSize& node_size) const;
    // Returns the resource that is missing for a request. The amounts of a vnode that has one of the
    // `reserved` resources don't count if the request doesn't ask for it. REQUIRES: there is no place for the
    // request.
    Shortage shortage(Inventory& inventory, PoolId pool, const Request& request, const NodeSize& node_size,
                      std::span<const std::uint32_t> reserved);

    // During a search, changes the free amounts of a vnode by `count` times `needs`: less (sign -1) or more
    // (sign 1). Updates only the trees of this pool, so the caller has to undo it before it uses another
    // pool.
    void add(Inventory& inventory, PoolId pool, VnodeSlot vnode, const Row& needs, std::int64_t count,
             int sign);
    // For a look-ahead, the search for a later start: adds shares of vnodes to their free amounts (sign 1) or
    // subtracts them (sign -1). Call settle_ahead() afterwards to update one pool. The other pools can't be
    // used until all shares are as before.
    void look_ahead(Inventory& inventory, std::span<const Inventory::Share> shares, int sign);
    void settle_ahead(Inventory& inventory, PoolId pool);
    // Returns the vnodes that look_ahead() has changed since the last settle_ahead().
    std::span<const VnodeSlot> looked_ahead(Inventory& inventory);

    // ---- The amounts at a later instant, kept from one look-ahead to the next (fit_index_ahead.cc).

    // Begins to keep them anew, with no difference from the present. Returns the number by which
    // has_ahead() knows these amounts. O(vnodes).
    std::uint64_t begin_ahead(Inventory& inventory);
    // Returns whether the amounts with this number are still kept. If so, they are until the present amounts
    // change: settles first, because many changed vnodes give them up.
    bool has_ahead(Inventory& inventory, std::uint64_t number) {
        settle(inventory);
        return number != 0 && ahead_.number == number && ahead_.version == inventory.version();
    }
    // Adds shares of vnodes to the difference between the later amounts and the present ones (sign 1), or
    // subtracts them (sign -1).
    void change_ahead(const Inventory& inventory, std::span<const Inventory::Share> shares, int sign);
    // Makes the later amounts those of the inventory and of this pool, until leave_ahead(). look_ahead() then
    // does the same as change_ahead(). REQUIRES: settle_ahead() before the pool is used.
    void enter_ahead(Inventory& inventory, PoolId pool);
    void leave_ahead(Inventory& inventory);

  private:
    using PoolKey = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, Chunks, NodeKeys>;

    void drop_void(Inventory& inventory);
    PoolId find_or_make(Inventory& inventory, QueueHandle queue, std::uint32_t host, std::uint32_t partition,
                        Chunks chunks, const NodeKeys& order);
    void make(const Inventory& inventory, PoolId id, QueueHandle queue, std::uint32_t host,
              std::uint32_t partition, const NodeKeys& order);
    static void sort_by_host(const Inventory& inventory, Pool& pool);
    static void find_hosts(const Inventory& inventory, Pool& pool);
    static void fill(const Inventory& inventory, Pool& pool);
    static void fill_host(const Inventory& inventory, Pool& pool, std::uint32_t host);
    void update(const Inventory& inventory, PoolId pool, VnodeSlot vnode);
    void update(const Inventory& inventory, PoolId pool, std::span<const VnodeSlot> vnodes);
    static void update_at(const Inventory& inventory, Pool& pool, std::uint32_t index);
    static std::int64_t chunks_of_vnode(const Inventory& inventory, VnodeSlot vnode, const Chunk& chunk,
                                        const Row& needs);
    static std::int64_t chunks_of_host(const Inventory& inventory, const Pool& pool, const Host& host,
                                       const Chunk& chunk, const Row& needs);
    // Shortages (shortage.cc).
    static void count(const Inventory& inventory, const Pool& pool, std::uint32_t index, Amounts& amounts);
    static Amounts amounts_of(const Inventory& inventory, const Pool& pool,
                              std::span<const std::uint32_t> without);
    static void find_most_free(const Inventory& inventory, const Pool& pool, Amounts& amounts);

    std::vector<Pool> pools_;
    std::map<PoolKey, PoolId> ids_;
    std::map<PoolKey, PoolId> asked_;  // by the queue passed to pool(); several queues may share a pool
    // For each vnode: its pools, and its index in Pool::vnodes of each.
    std::vector<std::vector<std::pair<PoolId, std::uint32_t>>> in_pools_;
    std::vector<VnodeSlot> looked_ahead_;  // vnodes that changed since the last settle_ahead()
    // The amounts at a later instant, and the trees of those pools in which a look-ahead has searched.
    struct Ahead {
        struct Trees {
            OrderedTree tree;
            std::vector<OrderedTree> host_trees;
            std::size_t seen = 0;  // how many of `changed` the trees take into account
            bool as_now = true;    // nothing is taken into account
        };
        std::uint64_t number = 0;  // 0: there are none
        std::uint64_t version = 0;
        bool entered = false;
        PoolId pool = 0;                          // the pool whose trees have the later amounts, if entered
        Inventory::Amounts differences{};         // the later amounts less the present ones
        Inventory::Amounts amounts{};             // the later amounts; if entered, the present ones
        std::vector<VnodeSlot> outdated;          // vnodes of which `amounts` has to be computed again
        std::vector<VnodeSlot> changed;           // vnodes whose later amounts have changed, in this order
        std::unordered_map<PoolId, Trees> trees;  // if entered, those of `pool` have the present amounts
    };
    void note_outdated(VnodeSlot vnode);
    void bring_ahead_up_to_date(Inventory& inventory);
    void swap_ahead(Inventory& inventory);
    Ahead ahead_;
    std::uint64_t ahead_begun_ = 0;  // how often begin_ahead() was called
    std::uint64_t version_ = 0;      // Inventory::version() when the pools were made
    bool has_shared_hosts_ = false;
};

}  // namespace pbs::sched
