// Chunks that the vnodes of a host may have pieces of: the hosts of a pool, and the search for a place.

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "server_plugin/scheduler/placement/vnodes.h"

namespace pbs::sched {
namespace {

constexpr std::int64_t most_amount = std::numeric_limits<std::int64_t>::max();

// What counts of an amount that is free, so that those of so many vnodes can be added up.
std::int64_t counted(std::int64_t amount, std::size_t vnodes) {
    return std::clamp<std::int64_t>(amount, 0, most_amount / static_cast<std::int64_t>(vnodes));
}

}  // namespace

// ---- The hosts of a pool.

// Hosts in the order of their first vnodes.
void Vnodes::sort_by_host(Pool& pool) const {
    std::unordered_map<std::uint32_t, std::size_t> rank;
    for (const VnodeSlot vnode : pool.vnodes) rank.try_emplace(vnodes_[vnode].host, rank.size());
    std::ranges::stable_sort(pool.vnodes, {}, [&](VnodeSlot v) { return rank.at(vnodes_[v].host); });
}

void Vnodes::find_hosts(Pool& pool) const {
    if (pool.chunks == Chunks::whole) {
        std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> hosts;
        for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i)
            hosts[vnodes_[pool.vnodes[i]].host].push_back(i);
        for (auto& [name, positions] : hosts)
            if (positions.size() > 1) pool.shared_hosts.emplace(positions.front(), std::move(positions));
        return;
    }
    pool.host_of.assign(pool.vnodes.size(), 0);
    const auto host = [&](std::uint32_t position) { return vnodes_[pool.vnodes[position]].host; };
    for (std::uint32_t first = 0, end = 0; first < pool.vnodes.size(); first = end) {
        while (end < pool.vnodes.size() && host(end) == host(first)) ++end;
        if (end - first == 1) continue;
        pool.hosts.push_back({first, end});
        std::fill_n(&pool.host_of[first], end - first, static_cast<std::uint32_t>(pool.hosts.size()));
    }
}

// Counts a vnode with these columns in what its host has, or out of it (-1). Vnodes that are closed or busy
// have nothing.
void Vnodes::add_to_host(Pool& pool, std::uint32_t host, const std::int64_t* columns, int sign) const {
    if (columns[open_column] != open) return;
    const std::size_t vnodes = pool.hosts[host].end - pool.hosts[host].first;
    std::int64_t* const sums = leaf(pool.host_tree, host);
    for (std::uint32_t c = 0; c < columns_; ++c) sums[c] += sign * counted(columns[c], vnodes);
}

// The vnodes of the pool that are on the same host as this one; null: it has no other, or they don't matter.
const Vnodes::Range* Vnodes::host_in(PoolId id, VnodeSlot vnode) const {
    const Pool& pool = pools_[id];
    if (pool.hosts.empty()) return nullptr;
    const auto place = std::ranges::find(in_pools_[vnode], id, &std::pair<PoolId, std::uint32_t>::first);
    if (place == in_pools_[vnode].end() || pool.host_of[place->second] == 0) return nullptr;
    return &pool.hosts[pool.host_of[place->second] - 1];
}

Vnodes::Room Vnodes::both(const Room& a, const Room& b) {
    const auto sum = [](std::int64_t x, std::int64_t y) {
        x = std::max<std::int64_t>(0, x);
        y = std::max<std::int64_t>(0, y);
        return x > most_amount - y ? most_amount : x + y;
    };
    return {sum(a.first, b.first), sum(a.second, b.second)};
}

Vnodes::Room Vnodes::host_room_until(PoolId id, VnodeSlot vnode, std::uint32_t first, std::uint32_t second,
                                     Instant ends) {
    const Range* host = host_in(id, vnode);
    if (host == nullptr) return room_until(vnode, first, second, ends);
    const Pool& pool = pools_[id];
    if (reserved_.empty()) {
        settle_trees();
        return room_of(leaf(pool.host_tree, pool.host_of[host->first] - 1), first, second);
    }
    Room sum;
    for (std::uint32_t i = host->first; i < host->end; ++i)
        if (row(pool.vnodes[i])[open_column] == open)
            sum = both(sum, room_until(pool.vnodes[i], first, second, ends));
    return sum;
}

// How many of the chunks the host has if nothing runs, at most.
std::int64_t Vnodes::chunks_of_host(const Pool& pool, const Range& host, const Chunk& chunk,
                                    const Needs& needs) const {
    std::vector<std::int64_t> sums(columns_, 0);
    bool any = false;
    for (std::uint32_t i = host.first; i < host.end; ++i) {
        const VnodeSlot vnode = pool.vnodes[i];
        if (!matches(vnodes_[vnode], chunk)) continue;
        any = true;
        for (std::uint32_t c = first_resource_column; c < columns_; ++c)
            sums[c] += counted(total_[vnode * columns_ + c], host.end - host.first);
    }
    std::int64_t most = any ? chunk.count : 0;
    for (std::uint32_t c = first_resource_column; c < columns_; ++c)
        if (needs[c] > 0) most = std::min(most, sums[c] / needs[c]);
    return most;
}

// ---- Finding places.

// One host after the other.
void Vnodes::place_by_host(Placing& placing, const Range& range) {
    const Pool& pool = placing.pool;
    const bool divides = placing.request.arrangement != Arrangement::vscatter;
    note_columns(placing.needs);
    std::uint32_t at = range.first;
    std::uint32_t host = 0;
    if (at > 0 && at < pool.tree.size)
        host = static_cast<std::uint32_t>(std::ranges::lower_bound(pool.hosts, at, {}, &Range::first) -
                                          pool.hosts.begin());
    while (placing.left > 0) {
        const std::uint32_t alone = next_fit(pool.tree, at);
        const std::uint32_t shared = divides ? next_fit(pool.host_tree, host) : no_slot;
        const std::uint32_t first = shared == no_slot ? no_slot : pool.hosts[shared].first;
        if (std::min(alone, first) >= range.end) return;
        if (first <= alone) {
            place_on_host(placing, pool.hosts[shared]);
            at = pool.hosts[shared].end;
            host = shared + 1;
        } else {
            place_on_vnode(placing, pool.vnodes[alone]);
            at = alone + 1;
        }
    }
}

// As many whole chunks as the vnode has room for and may have. False: none.
bool Vnodes::place_on_vnode(Placing& placing, VnodeSlot vnode) const {
    const Arrangement how = placing.request.arrangement;
    const bool apart = how == Arrangement::scatter || how == Arrangement::vscatter;
    const Chunk& chunk = placing.request.chunks[placing.chunk];
    const std::int64_t room = how_many(vnode, placing.needs, chunk, placing.rules);
    const std::int64_t count = std::min({placing.left, room, apart ? std::int64_t{1} : room});
    if (count == 0 || (apart && is_taken(placing, vnode))) return false;
    placing.out.parts.push_back({vnode, placing.chunk, count});
    placing.left -= count;
    return true;
}

// Has another kind of chunks the vnode, or with place=scatter its host? This kind asks for each once.
bool Vnodes::is_taken(const Placing& placing, VnodeSlot vnode) const {
    if (placing.chunk == 0) return false;
    const bool of_host = placing.request.arrangement == Arrangement::scatter;
    return std::ranges::any_of(placing.out, [&](const Part& part) {
        if (part.chunk == placing.chunk) return false;
        return of_host ? vnodes_[part.vnode].host == vnodes_[vnode].host : part.vnode == vnode;
    });
}

// Whole chunks first, then, of what is left of the vnodes, chunks in pieces.
void Vnodes::place_on_host(Placing& placing, const Range& host) {
    const Pool& pool = placing.pool;
    const bool scatters = placing.request.arrangement == Arrangement::scatter;
    if (scatters && is_taken(placing, pool.vnodes[host.first])) return;
    const std::size_t first_part = placing.out.parts.size();
    for (std::uint32_t at = next_fit(pool.tree, host.first); placing.left > 0 && at < host.end;
         at = next_fit(pool.tree, at + 1))
        if (place_on_vnode(placing, pool.vnodes[at]) && scatters) return;
    if (placing.left == 0) return;
    std::vector<Left> left = left_on_host(placing, host, first_part);
    if (left.size() > 1) divide(placing, left);
}

std::vector<Vnodes::Left> Vnodes::left_on_host(const Placing& placing, const Range& host,
                                               std::size_t first_part) const {
    const Needs& needs = placing.needs;
    const Chunk& chunk = placing.request.chunks[placing.chunk];
    std::vector<Left> all;
    for (std::uint32_t i = host.first; i < host.end; ++i) {
        const VnodeSlot slot = placing.pool.vnodes[i];
        const std::int64_t* has = row(slot);
        if (has[open_column] < needs[open_column] || has[empty_column] < needs[empty_column] ||
            !allowed(vnodes_[slot], placing.rules) || !matches(vnodes_[slot], chunk))
            continue;
        Left left{slot, Needs(has, has + columns_)};
        limit_by_reserved(slot, placing.rules.ends, left.columns);
        if (left.columns[open_column] < needs[open_column] ||
            left.columns[empty_column] < needs[empty_column])
            continue;
        for (std::int64_t& amount : left.columns) amount = counted(amount, host.end - host.first);
        all.push_back(std::move(left));
    }
    for (std::size_t i = first_part; i < placing.out.parts.size(); ++i) {
        const Part& part = placing.out.parts[i];
        const auto left = std::ranges::find(all, part.vnode, &Left::vnode);
        for (std::uint32_t c = first_resource_column; c < columns_; ++c)
            left->columns[c] = std::max<std::int64_t>(0, left->columns[c] - needs[c] * part.count);
    }
    return all;
}

void Vnodes::divide(Placing& placing, std::vector<Left>& left) const {
    const Needs& needs = placing.needs;
    // Does a row still have, or want, anything that is asked for?
    const auto has_any = [&](const Needs& columns) {
        for (std::uint32_t c = first_resource_column; c < columns_; ++c)
            if (needs[c] > 0 && columns[c] > 0) return true;
        return false;
    };
    std::int64_t count = placing.request.arrangement == Arrangement::scatter ? 1 : placing.left;
    for (std::uint32_t c = first_resource_column; c < columns_; ++c) {
        if (needs[c] <= 0) continue;
        std::int64_t sum = 0;
        for (const Left& one : left) sum += one.columns[c];
        count = std::min(count, sum / needs[c]);
    }
    if (count == 0 || !has_any(needs)) return;
    placing.left -= count;
    auto from = left.begin();
    for (; count > 0; --count) {
        Needs rest = needs;
        bool joined = false;
        while (!has_any(from->columns)) ++from;
        for (auto one = from; has_any(rest); ++one) joined = add_piece(placing, *one, rest, joined) || joined;
    }
}

// Of what a chunk still needs, as much as the vnode has. The first piece also has what no vnode has an amount
// of. False: nothing.
bool Vnodes::add_piece(Placing& placing, Left& from, Needs& rest, bool joined) const {
    Placement& out = placing.out;
    const std::size_t first = out.amounts.size();
    bool of_vnode = false;
    for (const Need& need : placing.request.chunks[placing.chunk].needs) {
        const std::uint32_t column = need.resource < column_of_.size() ? column_of_[need.resource] : 0;
        if (column == 0) {
            if (!joined) out.amounts.push_back(need);
            continue;
        }
        const std::int64_t amount = std::min(rest[column], from.columns[column]);
        if (amount <= 0) continue;
        of_vnode = true;
        rest[column] -= amount;
        from.columns[column] -= amount;
        out.amounts.push_back({need.resource, amount});
    }
    if (!of_vnode) {
        out.amounts.resize(first);
        return false;
    }
    out.parts.push_back({from.vnode, placing.chunk, 1, static_cast<std::uint32_t>(first),
                         static_cast<std::uint32_t>(out.amounts.size() - first), joined});
    return true;
}

// All chunks on one host.
bool Vnodes::pack_by_host(const Pool& pool, const Request& request, const PlaceRules& rules, Placement& out) {
    const Whole whole = whole_of(request, rules.node_size);
    std::uint32_t at = 0;
    std::uint32_t host = 0;
    while (true) {
        note_columns(whole.needs);
        const std::uint32_t alone = next_fit(pool.tree, at);
        const std::uint32_t shared = next_fit(pool.host_tree, host);
        const std::uint32_t first = shared == no_slot ? no_slot : pool.hosts[shared].first;
        if (alone == no_slot && first == no_slot) return false;
        if (first <= alone) {
            if (place_chunks(pool, request, rules, {nullptr, pool.hosts[shared]}, out)) return true;
            at = pool.hosts[shared].end;
            host = shared + 1;
        } else {
            if (place_whole(pool.vnodes[alone], whole, request, rules, out)) return true;
            at = alone + 1;
        }
    }
}

}  // namespace pbs::sched
