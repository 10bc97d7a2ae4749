#include "server_plugin/scheduler/placement/fit_index.h"

#include <bit>

namespace pbs::sched {

// ---- Pools.

void FitIndex::drop_void(Inventory& inventory) {
    if (version_ == inventory.version()) return;
    version_ = inventory.version();
    pools_.clear();
    ids_.clear();
    asked_.clear();
    in_pools_.assign(inventory.size(), {});
    inventory.clear_changed();
}

PoolId FitIndex::pool(Inventory& inventory, QueueHandle queue, std::uint32_t host, std::uint32_t partition,
                      Chunks chunks, const NodeKeys& order) {
    drop_void(inventory);
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

std::int64_t value_of(const Vnode& vnode, const NodeKey& key) {
    if (key.resource == kNoResource) return vnode.priority;
    return number_of(vnode.available, key.resource).value_or(0);
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
    std::ranges::stable_sort(pool.vnodes, [&](VnodeSlot a, VnodeSlot b) {
        for (const NodeKey& key : order) {
            const std::int64_t of_a = value_of(inventory[a], key);
            const std::int64_t of_b = value_of(inventory[b], key);
            if (of_a != of_b) return key.high_first ? of_a > of_b : of_a < of_b;
        }
        return inventory[a].handle < inventory[b].handle;
    });
    if (pool.chunks == Chunks::divided) sort_by_host(inventory, pool);
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i) in_pools_[pool.vnodes[i]].emplace_back(id, i);
    find_hosts(inventory, pool);
    const std::uint32_t columns = inventory.columns().size();
    pool.tree.assign(pool.vnodes.size(), columns);
    if (!pool.hosts.empty()) pool.host_tree.assign(pool.hosts.size(), columns);
    fill(inventory, pool);
}

// Brings the vnodes of each host together; hosts are in the order of their first vnodes.
void FitIndex::sort_by_host(const Inventory& inventory, Pool& pool) {
    std::unordered_map<std::uint32_t, std::size_t> rank;
    for (const VnodeSlot v : pool.vnodes) rank.try_emplace(inventory[v].host, rank.size());
    std::ranges::stable_sort(pool.vnodes, {}, [&](VnodeSlot v) { return rank.at(inventory[v].host); });
}

void FitIndex::find_hosts(const Inventory& inventory, Pool& pool) {
    const auto host = [&](std::uint32_t position) { return inventory[pool.vnodes[position]].host; };
    if (pool.chunks == Chunks::whole) {
        std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> hosts;
        for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i) hosts[host(i)].push_back(i);
        for (auto& [name, positions] : hosts)
            if (positions.size() > 1) pool.shared_hosts.emplace(positions.front(), std::move(positions));
        return;
    }
    pool.host_of.assign(pool.vnodes.size(), 0);
    for (std::uint32_t first = 0, end = 0; first < pool.vnodes.size(); first = end) {
        while (end < pool.vnodes.size() && host(end) == host(first)) ++end;
        if (end - first == 1) continue;
        pool.hosts.push_back({first, end});
        std::fill_n(&pool.host_of[first], end - first, static_cast<std::uint32_t>(pool.hosts.size()));
    }
}

bool FitIndex::is_of(const Inventory& inventory, PoolId pool, VnodeSlot vnode) const {
    return version_ == inventory.version() &&
           std::ranges::any_of(in_pools_[vnode], [&](const auto& place) { return place.first == pool; });
}

const FitIndex::Range* FitIndex::host_in(PoolId id, VnodeSlot vnode) const {
    const Pool& pool = pools_[id];
    if (pool.hosts.empty()) return nullptr;
    const auto place = std::ranges::find(in_pools_[vnode], id, &std::pair<PoolId, std::uint32_t>::first);
    if (place == in_pools_[vnode].end() || pool.host_of[place->second] == 0) return nullptr;
    return &pool.hosts[pool.host_of[place->second] - 1];
}

// ---- The trees of pools.

// Adds the row of a vnode to the sums of its host (sign 1), or takes it away (sign -1). A vnode that is
// closed or busy adds nothing: no chunk can have pieces of it.
void FitIndex::add_to_host(Pool& pool, std::uint32_t host, const std::int64_t* row, std::uint32_t columns,
                           int sign) {
    if (row[kOpenColumn] != Columns::open) return;
    const std::size_t vnodes = pool.hosts[host].end - pool.hosts[host].first;
    std::int64_t* const sums = pool.host_tree.row(host);
    for (std::uint32_t c = 0; c < columns; ++c) sums[c] += sign * counted(row[c], vnodes);
}

void FitIndex::fill(const Inventory& inventory, Pool& pool) {
    const std::uint32_t columns = inventory.columns().size();
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i)
        std::copy_n(inventory.free(pool.vnodes[i]), columns, pool.tree.row(i));
    pool.tree.fix();
    if (pool.hosts.empty()) return;
    std::fill_n(pool.host_tree.row(0), pool.hosts.size() * columns, 0);
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i)
        if (pool.host_of[i] != 0)
            add_to_host(pool, pool.host_of[i] - 1, inventory.free(pool.vnodes[i]), columns, 1);
    pool.host_tree.fix();
}

void FitIndex::update_at(const Inventory& inventory, Pool& pool, std::uint32_t position) {
    const std::uint32_t columns = inventory.columns().size();
    const std::int64_t* const free = inventory.free(pool.vnodes[position]);
    std::int64_t* const known = pool.tree.row(position);
    if (std::equal(known, known + columns, free)) return;
    if (const std::uint32_t host = pool.hosts.empty() ? 0 : pool.host_of[position]; host != 0) {
        add_to_host(pool, host - 1, known, columns, -1);
        add_to_host(pool, host - 1, free, columns, 1);
        pool.host_tree.fix_above(host - 1);
    }
    std::copy_n(free, columns, known);
    pool.tree.fix_above(position);
}

void FitIndex::update(const Inventory& inventory, PoolId pool, VnodeSlot vnode) {
    for (const auto& [id, position] : in_pools_[vnode])
        if (id == pool) update_at(inventory, pools_[id], position);
}

void FitIndex::settle(Inventory& inventory) {
    drop_void(inventory);
    for (const VnodeSlot vnode : inventory.changed())
        for (const auto& [id, position] : in_pools_[vnode]) update_at(inventory, pools_[id], position);
    inventory.clear_changed();
}

void FitIndex::add(Inventory& inventory, PoolId pool, VnodeSlot vnode, const Row& needs, std::int64_t count,
                   int sign) {
    inventory.add(vnode, needs, count, sign);
    update(inventory, pool, vnode);
}

void FitIndex::look_ahead(Inventory& inventory, std::span<const Inventory::Share> shares, int sign) {
    settle(inventory);
    inventory.add(shares, sign, looked_ahead_);
}

// If many vnodes changed, filling the whole tree anew costs less than changing it vnode by vnode.
void FitIndex::settle_ahead(const Inventory& inventory, PoolId id) {
    const std::size_t size = pools_[id].tree.size();
    if (looked_ahead_.size() * static_cast<std::size_t>(std::bit_width(size)) > 2 * size) {
        fill(inventory, pools_[id]);
    } else {
        for (const VnodeSlot vnode : looked_ahead_) update(inventory, id, vnode);
    }
    looked_ahead_.clear();
}

// ---- Questions.

// Walks down the trees and leaves out each subtree whose maxima lie within a room that was found already.
std::vector<Columns::Room> FitIndex::largest_rooms(Inventory& inventory, PoolId id, std::uint32_t first,
                                                   std::uint32_t second) {
    using Room = Columns::Room;
    constexpr std::size_t kMostRooms = 16;
    constexpr std::uint32_t kRoot = 1;
    settle(inventory);
    const Pool& pool = pools_[id];
    const Columns& columns = inventory.columns();
    std::vector<Room> rooms;
    // Collects the rooms of one tree. Returns false if there are too many.
    const auto collect = [&](const MaximaTree& tree) {
        std::vector<std::uint32_t> ahead = {kRoot};
        while (!ahead.empty()) {
            const std::uint32_t node = ahead.back();
            ahead.pop_back();
            const Room room = columns.room_of(tree.node(node), first, second);
            const auto within = [](const Room& a, const Room& b) {
                return a.first <= b.first && a.second <= b.second;
            };
            if (tree.node(node)[kOpenColumn] == Columns::closed ||
                std::ranges::any_of(rooms, [&](const Room& other) { return within(room, other); }))
                continue;
            if (!tree.is_leaf(node)) {
                ahead.push_back(2 * node);
                ahead.push_back(2 * node + 1);
                continue;
            }
            std::erase_if(rooms, [&](const Room& other) { return within(other, room); });
            rooms.push_back(room);
            if (rooms.size() > kMostRooms) return false;
        }
        return true;
    };
    if ((pool.hosts.empty() || collect(pool.host_tree)) && collect(pool.tree)) return rooms;
    Room all = columns.room_of(pool.tree.node(kRoot), first, second);
    if (!pool.hosts.empty()) {
        const Room of_host = columns.room_of(pool.host_tree.node(kRoot), first, second);
        all = {std::max(all.first, of_host.first), std::max(all.second, of_host.second)};
    }
    return {all};
}

// Returns how many of the chunks the host could give at most if nothing ran.
std::int64_t FitIndex::chunks_of_host(const Inventory& inventory, const Pool& pool, const Range& host,
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
    return std::ranges::all_of(request.chunks, [&](const Chunk& chunk) {
        const Row needs = inventory.columns().needs_of(chunk, false, node_size);
        std::int64_t left = chunk.count;
        for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i) {
            const VnodeSlot v = pool.vnodes[i];
            if (divides && pool.host_of[i] != 0) {
                const Range& host = pool.hosts[pool.host_of[i] - 1];
                left -= std::min(left, chunks_of_host(inventory, pool, host, chunk, needs));
                i = host.end - 1;
            } else if (inventory.matches(inventory[v], chunk)) {
                std::int64_t most = left;
                for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
                    if (needs[c] > 0) most = std::min(most, inventory.total(v)[c] / needs[c]);
                left -= most;
            }
            if (left <= 0) return true;
        }
        return false;
    });
}

}  // namespace pbs::sched
