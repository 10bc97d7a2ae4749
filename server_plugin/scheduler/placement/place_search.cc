#include "server_plugin/scheduler/placement/place_search.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace pbs::sched {
PlaceSearch::PlaceSearch(const Site& site, const Request& request, const PlaceRules& rules, Memory& memory,
                         Placement& out)
    : site_(site),
      pool_(site.index[site.pool]),
      request_(request),
      rules_(rules),
      memory_(memory),
      out_(out) {}

bool PlaceSearch::run() {
    site_.index.settle(site_.inventory);
    out_.clear();
    if (!inventory().has_some_of_each(request_)) return false;
    return request_.arrangement == Arrangement::pack ? pack() : place_chunks({});
}

bool PlaceSearch::run_by_preferences() {
    by_preferences_ = true;
    return run();
}

// Returns the number of preferences that the best of some vnodes misses. `vnode_of` finds a vnode for each of
// `items`.
template <class Items, class VnodeOf>
std::int64_t PlaceSearch::fewest_missed(const Items& items, const VnodeOf& vnode_of) const {
    std::int64_t fewest = INT64_MAX;
    for (const std::uint32_t item : items)
        fewest = std::min(fewest, inventory().missed(vnode_of(item), request_.preferences));
    return fewest;
}

// Returns the number of preferences that an item of a tree misses: a vnode, or the best vnode of a host.
std::int64_t PlaceSearch::missed(const OrderedTree& tree, std::uint32_t first, std::uint32_t item) const {
    const bool of_hosts = &tree == &pool_.tree && !pool_.hosts.empty();
    const Host host = of_hosts ? pool_.hosts[item] : Host{first + item, first + item + 1};
    return fewest_missed(std::span(pool_.vnodes).subspan(host.first, host.end - host.first), std::identity{});
}

std::int64_t PlaceSearch::how_many(VnodeSlot slot, const Row& needs, const Chunk& chunk) const {
    const std::int64_t room = room_on(slot, needs, chunk);
    return rules_.rule != nullptr && room > 0 ? std::min(room, rules_.rule->most(slot, needs, out_)) : room;
}

std::int64_t PlaceSearch::room_on(VnodeSlot slot, const Row& needs, const Chunk& chunk) const {
    const Vnode& vnode = inventory()[slot];
    if (!inventory().allowed(slot, rules_) || !inventory().matches(vnode, chunk)) return 0;
    std::int64_t most = chunk.count;
    const auto limit_by = [&](const std::int64_t* has) {
        for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
            if (needs[c] > 0) most = std::min(most, std::max<std::int64_t>(0, has[c]) / needs[c]);
    };
    limit_by(inventory().free(slot));
    for_each_binding(slot, [&](const Row& over) {
        if (takes(over.data(), needs))
            limit_by(over.data());
        else
            most = 0;
    });
    return most;
}

void PlaceSearch::note(const Row& needs, MaximaTree::Minima& asked) {
    asked.clear();
    // Put amounts first: fewer vnodes have enough of an amount than are open, so most comparisons end at
    // once.
    for (auto c = static_cast<std::uint32_t>(needs.size()); c-- > 0;)
        if (needs[c] > 0) asked.emplace_back(c, needs[c]);
}

// Places all chunks of one kind, in one walk over the vnodes on which they fit.
bool PlaceSearch::place_kind(Kind& kind, const Subset& among) {
    if (rules_.spreads && request_.per_host > 0) {
        place_per_host(kind);
        return kind.left == 0;
    }
    if (in_rounds()) {
        place_in_rounds(kind);
        if (kind.left == 0) return true;
    }
    if (pool_.chunks == Chunks::divided && among.host == nullptr) {
        place_by_host(kind);
        return kind.left == 0;
    }
    if (among.host != nullptr) {
        place_on_host(kind, *among.host);
        return kind.left == 0;
    }
    const bool scatters = request_.arrangement == Arrangement::scatter;
    const bool apart = scatters || request_.arrangement == Arrangement::vscatter;
    const auto host_of = [&](VnodeSlot slot) { return inventory()[slot].host; };
    const auto taken = [&](VnodeSlot slot) {
        return std::ranges::any_of(out_, [&](const Part& part) {
            return scatters ? host_of(part.vnode) == host_of(slot) : part.vnode == slot;
        });
    };
    // The hosts with chunks of this kind. Hosts with chunks of other kinds are few, and are looked up in
    // `out_`.
    std::optional<std::unordered_set<std::uint32_t>> hosts;
    if (apart) hosts.emplace();
    const auto offer = [&](std::uint32_t index) {
        const VnodeSlot slot = pool_.vnodes[index];
        std::int64_t count = std::min(kind.left, how_many(slot, kind.needs, kind.chunk));
        if (apart && count > 0) {
            if (scatters && hosts->contains(host_of(slot))) return;
            if (request_.chunks.size() > 1 && taken(slot)) return;
            hosts->insert(host_of(slot));
            count = 1;
        }
        if (count == 0) return;
        out_.parts.push_back({slot, kind.number, count});
        kind.left -= count;
    };
    if (among.indices != nullptr) {
        for (const auto index : *among.indices) {
            if (!takes(inventory().free(pool_.vnodes[index]), kind.needs)) continue;
            offer(index);
            if (kind.left == 0) break;
        }
        return kind.left == 0;
    }
    note(kind.needs, memory_.asked);
    if (!apart && !by_preferences_ && comes_later(kind.needs)) place_in_turn(kind, pool_.tree, 0);
    if (kind.left == 0) return true;
    for_each_fit(pool_.tree, 0, [&](std::uint32_t index) {
        offer(index);
        return kind.left > 0;
    });
    return kind.left == 0;
}

// Returns whether a vnode moves back in the order when it gives a chunk. The first key on an amount that the
// chunk takes decides.
bool PlaceSearch::comes_later(const Row& needs) const {
    for (const NodeKey& key : pool_.keys) {
        const std::uint32_t column = key.moves() ? columns().of(key.resource) : 0;
        if (column != 0 && needs[column] > 0) return key.high_first == (key.amount == SortAmount::unused);
    }
    return false;
}

// Gives chunks one by one, each from the vnode that is then the first in the tree. The tree's items are the
// vnodes of the pool, hosts of one vnode each, or the vnodes of one host; `first` is then the index of the
// host's first vnode. A vnode that gives no chunk of the kind keeps its position, and isn't tried again.
void PlaceSearch::place_in_turn(Kind& kind, const OrderedTree& tree, std::uint32_t first) {
    std::uint32_t passed = kNoSlot;  // the last vnode that gave no chunk
    take_all();
    for (std::int64_t given = 0; kind.left > 0 && given < kMostInTurn;) {
        const std::uint32_t from = passed == kNoSlot ? 0 : tree.position(passed) + 1;
        const std::uint32_t position = tree.next_fit(memory_.asked, from);
        if (position == kNoSlot) return;
        const std::uint32_t item = tree.item(position);
        const bool of_pool = &tree == &pool_.tree && !pool_.hosts.empty();
        const VnodeSlot slot = pool_.vnodes[of_pool ? pool_.hosts[item].first : first + item];
        if (how_many(slot, kind.needs, kind.chunk) == 0) {
            passed = item;
            continue;
        }
        out_.parts.push_back({slot, kind.number, 1});
        take_all();
        --kind.left;
        ++given;
    }
}

// Subtracts a part from the free amounts (sign -1), so that no chunk of the next kind gets it, or adds it
// again (sign 1).
void PlaceSearch::take(const Part& part, int sign) {
    const Row& needs = columns().needs_of(out_, part, request_, rules_.node_size, taken_);
    site_.index.add(site_.inventory, site_.pool, part.vnode, needs, part.count, sign);
    site_.reservations.use(part.vnode, needs, part.count, -sign, rules_.ends);
    site_.bookings.use(part.vnode, needs, part.count, -sign, rules_);
}

bool PlaceSearch::place_chunks(const Subset& among) {
    out_.clear();
    bool placed = true;
    for (std::uint32_t c = 0; placed && c < request_.chunks.size(); ++c) {
        const Chunk& chunk = request_.chunks[c];
        const Row& needs = columns().needs_of(chunk, request_.sharing, rules_.node_size, memory_.needs);
        Kind kind{c, chunk, needs, chunk.count};
        placed = place_kind(kind, among);
        if (placed && c + 1 < request_.chunks.size()) take_all();
    }
    for (; taken_parts_ > 0; --taken_parts_) take(out_.parts[taken_parts_ - 1], 1);
    if (!placed) out_.clear();
    return placed;
}

PlaceSearch::AllChunks PlaceSearch::whole_of_request() const {
    AllChunks whole;
    whole.needs.assign(columns().size(), 0);
    for (const Chunk& chunk : request_.chunks) {
        const Row needs = columns().needs_of(chunk, request_.sharing, rules_.node_size);
        for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
            whole.needs[c] += needs[c] * chunk.count;
        whole.needs[kOpenColumn] = needs[kOpenColumn];
        whole.needs[kEmptyColumn] = needs[kEmptyColumn];
        whole.chunk.matches.insert(whole.chunk.matches.end(), chunk.matches.begin(), chunk.matches.end());
    }
    return whole;
}

bool PlaceSearch::place_whole(VnodeSlot vnode, const AllChunks& whole) {
    if (how_many(vnode, whole.needs, whole.chunk) == 0) return false;
    for (std::uint32_t c = 0; c < request_.chunks.size(); ++c)
        out_.parts.push_back({vnode, c, request_.chunks[c].count});
    // A rule about chunks may allow some of them only.
    if (rules_.rule == nullptr || rules_.rule->allows(out_)) return true;
    out_.clear();
    return false;
}

bool PlaceSearch::place_on_one_vnode() {
    const AllChunks whole = whole_of_request();
    note(whole.needs, memory_.asked);
    bool placed = false;
    for_each_fit(pool_.tree, 0, [&](std::uint32_t index) {
        placed = place_whole(pool_.vnodes[index], whole);
        return !placed;
    });
    return placed;
}

// Places all chunks on one host: on one vnode if possible, else on several vnodes of the host.
bool PlaceSearch::pack() {
    if (pool_.chunks == Chunks::divided) return pack_by_host();
    if (place_on_one_vnode()) return true;
    std::span<const std::vector<std::uint32_t>> hosts = pool_.shared_hosts;
    std::vector<std::vector<std::uint32_t>> moved;
    if (by_preferences_) {
        moved = pool_.shared_hosts;
        std::ranges::stable_sort(moved, {}, [&](const auto& host) {
            return fewest_missed(host, [&](std::uint32_t index) { return pool_.vnodes[index]; });
        });
        hosts = moved;
    } else if (pool_.moves()) {
        const auto position = [&](std::uint32_t index) { return pool_.tree.position(index); };
        moved = pool_.shared_hosts;
        for (auto& host : moved) std::ranges::sort(host, {}, position);
        std::ranges::sort(moved, {}, [&](const auto& host) { return position(host.front()); });
        hosts = moved;
    }
    return std::ranges::any_of(hosts, [&](const auto& host) { return place_chunks({&host, nullptr}); });
}

}  // namespace pbs::sched
