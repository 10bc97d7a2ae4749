#include "server_plugin/scheduler/placement/fit_index.h"

#include <bit>

namespace pbs::sched {

// ---- Pools.

void FitIndex::drop_void(Inventory& inventory) {
    if (version_ == inventory.version()) return;
    ahead_ = {};
    pools_.clear();
    ids_.clear();
    asked_.clear();
    in_pools_.assign(inventory.size(), {});
    has_shared_hosts_ = false;
    for (VnodeSlot v = 0; v < inventory.size() && !has_shared_hosts_; ++v)
        has_shared_hosts_ =
            inventory[v].known && std::ranges::any_of(inventory.of_host(v), [&](VnodeSlot other) {
                return other != v && inventory[other].known;
            });
    inventory.clear_changed();
    version_ = inventory.version();  // last: after a lack of memory, the next call has to make all of it
}

PoolId FitIndex::pool(Inventory& inventory, QueueHandle queue, std::uint32_t host, std::uint32_t partition,
                      Chunks chunks, const NodeKeys& order) {
    drop_void(inventory);
    try {
        return find_or_make(inventory, queue, host, partition, chunks, order);
    } catch (...) {
        inventory.drop_pools();  // a pool may be half made, as without memory: make all anew
        throw;
    }
}

PoolId FitIndex::find_or_make(Inventory& inventory, QueueHandle queue, std::uint32_t host,
                              std::uint32_t partition, Chunks chunks, const NodeKeys& order) {
    const auto [asked, first] =
        asked_.try_emplace(PoolKey(static_cast<std::uint64_t>(queue), host, partition, chunks, order));
    if (!first) return asked->second;
    bool bound = false;
    for (VnodeSlot v = 0; v < inventory.size() && !bound; ++v)
        bound = inventory[v].known && queue != QueueHandle{} && inventory[v].queue == queue &&
                inventory[v].partition == partition;
    if (!bound) queue = {};
    const auto [place, made] =
        ids_.emplace(PoolKey(static_cast<std::uint64_t>(queue), host, partition, chunks, order),
                     static_cast<PoolId>(pools_.size()));
    if (made) {
        pools_.emplace_back().chunks = chunks;
        make(inventory, place->second, queue, host, partition, order);
    }
    asked->second = place->second;
    return place->second;
}

namespace {

using KeyValues = absl::InlinedVector<std::int64_t, 4>;

// Returns the number by which a key sorts the vnode, the least first. It is bounded so that the sum over
// `vnodes` vnodes doesn't overflow.
std::int64_t value_of(const Inventory& inventory, VnodeSlot vnode, const NodeKey& key, std::size_t vnodes) {
    std::int64_t value = 0;
    if (key.is_load()) {
        constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
        value = inventory.loads().number(key.load_order, vnode);
        return key.high_first && value != kUnknown ? -value : value;
    }
    const std::uint32_t column = inventory.columns().of(key.resource);
    if (key.resource == kNoResource)
        value = inventory[vnode].priority;
    else if (key.amount == SortAmount::total)
        value = number_of(inventory[vnode].available, key.resource).value_or(0);
    else if (column != 0 && key.amount == SortAmount::unused)
        value = inventory.free(vnode)[column];
    else if (column != 0)
        value = inventory.total(vnode)[column] - inventory.free(vnode)[column];
    const std::int64_t most =
        std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(vnodes + 1);
    value = std::clamp(value, -most, most);
    return key.high_first ? -value : value;
}

KeyValues values_of(const Inventory& inventory, const FitIndex::Pool& pool, VnodeSlot vnode) {
    KeyValues values;
    for (const NodeKey& key : pool.keys)
        values.push_back(value_of(inventory, vnode, key, pool.vnodes.size()));
    return values;
}

// Returns the numbers by which hosts are sorted: those of the host's first vnode. Vnodes with equal keys are
// in the order of their handles.
KeyValues values_of_host(const Inventory& inventory, const FitIndex::Pool& pool, const FitIndex::Host& host) {
    std::uint32_t first = 0;
    if (host.is_shared()) {
        const OrderedTree& tree = pool.host_trees[host.tree];
        first = tree.item(tree.next_fit({{kOpenColumn, Columns::closed}}, 0));
    }
    const VnodeSlot vnode = pool.vnodes[host.first + first];
    KeyValues values = values_of(inventory, pool, vnode);
    values.push_back(static_cast<std::int64_t>(inventory[vnode].handle));
    return values;
}

// Adds the row of a vnode to the sums of its host (sign 1), or subtracts it (sign -1). A vnode that is closed
// or busy adds nothing, because it can't give pieces of chunks.
void add_to_host(const FitIndex::Host& host, const std::int64_t* row, std::uint32_t columns,
                 std::int64_t sign, std::int64_t* sums) {
    if (row[kOpenColumn] != Columns::open) return;
    for (std::uint32_t c = 0; c < columns; ++c) sums[c] += sign * counted(row[c], host.end - host.first);
}

}  // namespace

void FitIndex::make(const Inventory& inventory, PoolId id, QueueHandle queue, std::uint32_t host,
                    std::uint32_t partition, const NodeKeys& order) {
    Pool& pool = pools_[id];
    for (VnodeSlot v = 0; v < inventory.size(); ++v) {
        const Vnode& vnode = inventory[v];
        if (vnode.known && vnode.queue == queue && vnode.partition == partition &&
            (host == 0 || inventory.same_host(vnode.host, host)))
            pool.vnodes.push_back(v);
    }
    if (std::ranges::any_of(order, &NodeKey::moves)) pool.keys = order;
    std::ranges::stable_sort(pool.vnodes, [&](VnodeSlot a, VnodeSlot b) {
        if (!pool.moves())
            for (const NodeKey& key : order) {
                const std::int64_t of_a = value_of(inventory, a, key, 0);
                const std::int64_t of_b = value_of(inventory, b, key, 0);
                if (of_a != of_b) return of_a < of_b;
            }
        return inventory[a].handle < inventory[b].handle;
    });
    if (pool.chunks == Chunks::divided) sort_by_host(inventory, pool);
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i) in_pools_[pool.vnodes[i]].emplace_back(id, i);
    find_hosts(inventory, pool);
    const std::size_t items = pool.chunks == Chunks::whole ? pool.vnodes.size() : pool.hosts.size();
    const std::size_t keys = pool.keys.size() + (pool.moves() && !pool.hosts.empty() ? 1 : 0);
    pool.tree.assign(items, inventory.columns().size(), keys, pool.moves());
    fill(inventory, pool);
}

// Groups the vnodes by host; hosts are in the order of their first vnodes.
void FitIndex::sort_by_host(const Inventory& inventory, Pool& pool) {
    std::unordered_map<std::uint32_t, std::size_t> rank;
    for (const VnodeSlot v : pool.vnodes) rank.try_emplace(inventory[v].host, rank.size());
    std::ranges::stable_sort(pool.vnodes, {}, [&](VnodeSlot v) { return rank.at(inventory[v].host); });
}

void FitIndex::find_hosts(const Inventory& inventory, Pool& pool) {
    const auto host = [&](std::uint32_t index) { return inventory[pool.vnodes[index]].host; };
    if (pool.chunks == Chunks::whole) {
        std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> hosts;
        for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i) hosts[host(i)].push_back(i);
        for (auto& [name, indices] : hosts)
            if (indices.size() > 1) pool.shared_hosts.push_back(std::move(indices));
        std::ranges::sort(pool.shared_hosts);
        return;
    }
    for (std::uint32_t first = 0, end = 0; first < pool.vnodes.size(); first = end) {
        while (end < pool.vnodes.size() && host(end) == host(first)) ++end;
        pool.host_of.insert(pool.host_of.end(), end - first, static_cast<std::uint32_t>(pool.hosts.size()));
        Host& made = pool.hosts.emplace_back(Host{first, end});
        if (end - first == 1) continue;
        made.tree = static_cast<std::uint32_t>(pool.host_trees.size());
        pool.host_trees.emplace_back().assign(end - first, inventory.columns().size(), pool.keys.size(),
                                              pool.moves());
    }
}

bool FitIndex::is_of(const Inventory& inventory, PoolId pool, VnodeSlot vnode) const {
    return version_ == inventory.version() &&
           std::ranges::any_of(in_pools_[vnode], [&](const auto& place) { return place.first == pool; });
}

std::uint32_t FitIndex::host_in(PoolId id, VnodeSlot vnode) const {
    const Pool& pool = pools_[id];
    const auto place = std::ranges::find(in_pools_[vnode], id, &std::pair<PoolId, std::uint32_t>::first);
    return place == in_pools_[vnode].end() || pool.hosts.empty() ? kNoSlot : pool.host_of[place->second];
}

// ---- The trees of pools.

void FitIndex::fill(const Inventory& inventory, Pool& pool) {
    const auto vnode_of = [&](std::uint32_t item) {
        return pool.vnodes[pool.hosts.empty() ? item : pool.hosts[item].first];
    };
    const auto is_shared = [&](std::uint32_t item) {
        return !pool.hosts.empty() && pool.hosts[item].is_shared();
    };
    for (std::uint32_t i = 0; i < pool.tree.size(); ++i) {
        if (is_shared(i)) fill_host(inventory, pool, i);
        if (pool.moves())
            std::ranges::copy(pool.hosts.empty() ? values_of(inventory, pool, vnode_of(i))
                                                 : values_of_host(inventory, pool, pool.hosts[i]),
                              pool.tree.keys(i).begin());
    }
    if (pool.moves()) pool.tree.sort();
    const std::uint32_t columns = inventory.columns().size();
    for (std::uint32_t i = 0; i < pool.tree.size(); ++i) {
        if (!is_shared(i)) {
            std::copy_n(inventory.free(vnode_of(i)), columns, pool.tree.row(i));
            continue;
        }
        const Host& host = pool.hosts[i];
        std::fill_n(pool.tree.row(i), columns, 0);
        for (std::uint32_t v = host.first; v < host.end; ++v)
            add_to_host(host, inventory.free(pool.vnodes[v]), columns, 1, pool.tree.row(i));
    }
    pool.tree.fix();
}

// Fills the tree of a host of several vnodes.
void FitIndex::fill_host(const Inventory& inventory, Pool& pool, std::uint32_t host) {
    OrderedTree& tree = pool.host_trees[pool.hosts[host].tree];
    const std::uint32_t first = pool.hosts[host].first;
    if (pool.moves()) {
        for (std::uint32_t v = 0; v < tree.size(); ++v)
            std::ranges::copy(values_of(inventory, pool, pool.vnodes[first + v]), tree.keys(v).begin());
        tree.sort();
    }
    for (std::uint32_t v = 0; v < tree.size(); ++v)
        std::copy_n(inventory.free(pool.vnodes[first + v]), inventory.columns().size(), tree.row(v));
    tree.fix();
}

namespace {

// Updates the row and position of a vnode. `hosts_stay`: its host keeps its position.
void bring_up_to_date(const Inventory& inventory, FitIndex::Pool& pool, std::uint32_t index,
                      bool hosts_stay) {
    const std::uint32_t columns = inventory.columns().size();
    const VnodeSlot vnode = pool.vnodes[index];
    const std::int64_t* const free = inventory.free(vnode);
    const std::uint32_t item = pool.hosts.empty() ? index : pool.host_of[index];
    const FitIndex::Host* const host = pool.hosts.empty() ? nullptr : &pool.hosts[item];
    const bool moves = pool.moves() && !hosts_stay;
    const auto keys = [&] {
        return host == nullptr ? values_of(inventory, pool, vnode) : values_of_host(inventory, pool, *host);
    };
    if (host == nullptr || !host->is_shared()) {
        if (!pool.by_load() && std::equal(free, free + columns, pool.tree.row(item))) return;
        if (moves)
            pool.tree.set(item, free, keys());
        else
            pool.tree.set(item, free);
        return;
    }
    OrderedTree& tree = pool.host_trees[host->tree];
    const std::uint32_t of_host = index - host->first;
    const std::int64_t* const known = tree.row(of_host);
    if (!pool.by_load() && std::equal(known, known + columns, free)) return;
    Row sums(pool.tree.row(item), pool.tree.row(item) + columns);
    add_to_host(*host, known, columns, -1, sums.data());
    add_to_host(*host, free, columns, 1, sums.data());
    if (pool.moves())
        tree.set(of_host, free, values_of(inventory, pool, vnode));
    else
        tree.set(of_host, free);
    if (moves)
        pool.tree.set(item, sums.data(), keys());
    else
        pool.tree.set(item, sums.data());
}

}  // namespace

void FitIndex::update_at(const Inventory& inventory, Pool& pool, std::uint32_t index) {
    bring_up_to_date(inventory, pool, index, false);
}

void FitIndex::update(const Inventory& inventory, PoolId pool, VnodeSlot vnode) {
    for (const auto& [id, index] : in_pools_[vnode])
        if (id == pool) update_at(inventory, pools_[id], index);
}

void FitIndex::settle(Inventory& inventory) {
    drop_void(inventory);
    for (const VnodeSlot vnode : inventory.changed())
        for (const auto& [id, index] : in_pools_[vnode]) {
            update_at(inventory, pools_[id], index);
            for (auto& [without, amounts] : pools_[id].amounts) count(inventory, pools_[id], index, amounts);
        }
    if (ahead_.number != 0)
        for (const VnodeSlot vnode : inventory.changed()) note_outdated(vnode);
    inventory.clear_changed();
}

// Updates only this pool. If any host has several vnodes, hosts keep their positions, because a search walks
// hosts in the order that they had when it began.
void FitIndex::add(Inventory& inventory, PoolId pool, VnodeSlot vnode, const Row& needs, std::int64_t count,
                   int sign) {
    inventory.add(vnode, needs, count, sign);
    for (const auto& [id, index] : in_pools_[vnode])
        if (id == pool) bring_up_to_date(inventory, pools_[id], index, has_shared_hosts_);
}

void FitIndex::look_ahead(Inventory& inventory, std::span<const Inventory::Share> shares, int sign) {
    if (ahead_.entered) return change_ahead(inventory, shares, sign);
    settle(inventory);
    inventory.add(shares, sign, looked_ahead_);
}

// Updates the pool for these vnodes. If there are many, filling the whole tree again costs less than changing
// it vnode by vnode.
void FitIndex::update(const Inventory& inventory, PoolId id, std::span<const VnodeSlot> vnodes) {
    const std::size_t size = pools_[id].vnodes.size();
    if (vnodes.size() * static_cast<std::size_t>(std::bit_width(size)) > 2 * size) {
        fill(inventory, pools_[id]);
    } else {
        for (const VnodeSlot vnode : vnodes) update(inventory, id, vnode);
    }
}

// ---- Questions.

// Walks down the trees, and skips each subtree whose maxima are within a pair that was found already.
std::vector<Columns::Room> FitIndex::largest_rooms(Inventory& inventory, PoolId id, std::uint32_t first,
                                                   std::uint32_t second) {
    using Room = Columns::Room;
    constexpr std::size_t kMostRooms = 16;
    constexpr std::uint32_t kRoot = 1;
    settle(inventory);
    const MaximaTree& tree = pools_[id].tree.tree();
    const Columns& columns = inventory.columns();
    std::vector<Room> rooms;
    std::vector<std::uint32_t> ahead = {kRoot};
    while (!ahead.empty()) {
        const std::uint32_t node = ahead.back();
        ahead.pop_back();
        const Room room = columns.room_of(tree.node(node), first, second);
        const auto within = [](const Room& a, const Room& b) {
            return a.first <= b.first && a.second <= b.second;
        };
        if (tree.node(node)[kOpenColumn] <= Columns::closed ||
            std::ranges::any_of(rooms, [&](const Room& other) { return within(room, other); }))
            continue;
        if (!tree.is_leaf(node)) {
            ahead.push_back(2 * node);
            ahead.push_back(2 * node + 1);
            continue;
        }
        std::erase_if(rooms, [&](const Room& other) { return within(other, room); });
        rooms.push_back(room);
        if (rooms.size() > kMostRooms) return {columns.room_of(tree.node(kRoot), first, second)};
    }
    return rooms;
}

// Returns the most chunks that the vnode could give if nothing ran.
std::int64_t FitIndex::chunks_of_vnode(const Inventory& inventory, VnodeSlot vnode, const Chunk& chunk,
                                       const Row& needs) {
    std::int64_t most = chunk.count;
    for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
        if (needs[c] > 0) most = std::min(most, inventory.total(vnode)[c] / needs[c]);
    return most;
}

// Returns the most chunks that a host could give, also in pieces from its vnodes, if nothing ran.
std::int64_t FitIndex::chunks_of_host(const Inventory& inventory, const Pool& pool, const Host& host,
                                      const Chunk& chunk, const Row& needs) {
    Row sums(needs.size(), 0);
    bool any = false;
    for (std::uint32_t i = host.first; i < host.end; ++i) {
        const VnodeSlot vnode = pool.vnodes[i];
        if (!inventory.matches(inventory[vnode], chunk)) continue;
        any = true;
        for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
            sums[c] += counted(inventory.total(vnode)[c], host.end - host.first);
    }
    std::int64_t most = any ? chunk.count : 0;
    for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
        if (needs[c] > 0) most = std::min(most, sums[c] / needs[c]);
    return most;
}

bool FitIndex::large_enough(const Inventory& inventory, PoolId id, const Request& request,
                            const NodeSize& node_size) const {
    if (!inventory.has_some_of_each(request)) return false;
    const Pool& pool = pools_[id];
    const bool divides = !pool.hosts.empty() && request.arrangement != Arrangement::vscatter;
    // The Origin algorithm, which counts nodes, doesn't act on per_host.
    if (request.per_host > 0 && node_size.cpus == 0) return inventory.has_hosts_for(pool.vnodes, request);
    return std::ranges::all_of(request.chunks, [&](const Chunk& chunk) {
        const Row needs = inventory.columns().needs_of(chunk, AskedSharing::shared, node_size);
        std::int64_t left = chunk.count;
        for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i) {
            const VnodeSlot v = pool.vnodes[i];
            if (divides && pool.hosts[pool.host_of[i]].is_shared()) {
                const Host& host = pool.hosts[pool.host_of[i]];
                left -= std::min(left, chunks_of_host(inventory, pool, host, chunk, needs));
                i = host.end - 1;
            } else if (inventory.matches(inventory[v], chunk)) {
                left -= std::min(left, chunks_of_vnode(inventory, v, chunk, needs));
            }
            if (left <= 0) return true;
        }
        return false;
    });
}

}  // namespace pbs::sched
