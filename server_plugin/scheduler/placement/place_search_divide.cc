// The search for places if the vnodes of a host may give pieces of a chunk.

#include <algorithm>

#include "server_plugin/scheduler/placement/place_search.h"

namespace pbs::sched {

// Places chunks of one kind, host by host. If a chunk fits on no single vnode of a host, it may fit on the
// host in pieces.
void PlaceSearch::place_by_host(Kind& kind) {
    note(kind.needs, memory_.asked);
    if (request_.arrangement == Arrangement::free && !site_.index.has_shared_hosts() && !by_preferences_ &&
        comes_later(kind.needs))
        place_in_turn(kind, pool_.tree, 0);
    if (kind.left == 0) return;
    for_each_fit(pool_.tree, 0, [&](std::uint32_t host) {
        place_on_host(kind, pool_.hosts[host]);
        return kind.left > 0;
    });
}

// Places as many whole chunks as fit on the vnode and the arrangement permits. Returns false if none does.
bool PlaceSearch::place_on_vnode(Kind& kind, VnodeSlot vnode) {
    const Arrangement how = request_.arrangement;
    const bool apart = how == Arrangement::scatter || how == Arrangement::vscatter;
    const std::int64_t room = how_many(vnode, kind.needs, kind.chunk);
    const std::int64_t count = std::min({kind.left, room, apart ? std::int64_t{1} : room});
    if (count == 0 || (apart && is_taken(kind, vnode))) return false;
    out_.parts.push_back({vnode, kind.number, count});
    kind.left -= count;
    return true;
}

// Returns whether the job already has chunks of another kind on the vnode or, with place=scatter, on its
// host. Chunks of the same kind don't matter, because the search offers each vnode and host to a kind only
// once.
bool PlaceSearch::is_taken(const Kind& kind, VnodeSlot vnode) const {
    if (kind.number == 0) return false;
    const bool of_host = request_.arrangement == Arrangement::scatter;
    return std::ranges::any_of(out_, [&](const Part& part) {
        if (part.chunk == kind.number) return false;
        return of_host ? inventory()[part.vnode].host == inventory()[vnode].host : part.vnode == vnode;
    });
}

// Places whole chunks first, and then divides chunks among the remaining free amounts of the vnodes.
void PlaceSearch::place_on_host(Kind& kind, const Host& host) {
    const Arrangement how = request_.arrangement;
    note(kind.needs, memory_.asked);
    if (!host.is_shared()) {
        if (takes(inventory().free(pool_.vnodes[host.first]), kind.needs))
            place_on_vnode(kind, pool_.vnodes[host.first]);
        return;
    }
    const OrderedTree& tree = pool_.host_trees[host.tree];
    const bool scatters = how == Arrangement::scatter;
    if (scatters && is_taken(kind, pool_.vnodes[host.first])) return;
    const std::size_t first_part = out_.parts.size();
    if (how == Arrangement::pack && !by_preferences_ && comes_later(kind.needs))
        place_in_turn(kind, tree, host.first);
    bool scattered = false;
    if (kind.left > 0)
        for_each_fit(tree, host.first, [&](std::uint32_t item) {
            scattered = place_on_vnode(kind, pool_.vnodes[host.first + item]) && scatters;
            return !scattered && kind.left > 0;
        });
    if (scattered || kind.left == 0 || how == Arrangement::vscatter) return;
    const std::vector<FreeAmounts> left = left_on_host(kind, host, first_part);
    if (left.size() < 2) return;
    // The vnodes may have to share what a rule allows, such as the CPUs of a user: then divide fewer chunks.
    const std::int64_t before = kind.left;
    const std::size_t parts = out_.parts.size();
    const std::size_t amounts = out_.amounts.size();
    const auto divide_at_most = [&](std::int64_t most) {
        kind.left = before;
        out_.parts.resize(parts);
        out_.amounts.resize(amounts);
        std::vector<FreeAmounts> rest = left;
        divide(kind, rest, most);
        return rules_.rule == nullptr || rules_.rule->allows(out_);
    };
    if (divide_at_most(before)) return;
    std::int64_t allowed = 0;
    for (std::int64_t refused = before - kind.left; refused - allowed > 1;) {
        const std::int64_t most = allowed + (refused - allowed) / 2;
        (divide_at_most(most) ? allowed : refused) = most;
    }
    divide_at_most(allowed);
}

std::vector<PlaceSearch::FreeAmounts> PlaceSearch::left_on_host(const Kind& kind, const Host& host,
                                                                std::size_t first_part) const {
    std::vector<FreeAmounts> all;
    const OrderedTree& tree = pool_.host_trees[host.tree];
    for (std::uint32_t position = 0; position < tree.tree().size(); ++position) {
        const std::uint32_t item = tree.item(position);
        if (item == kNoSlot) continue;
        const VnodeSlot slot = pool_.vnodes[host.first + item];
        const Vnode& vnode = inventory()[slot];
        const std::int64_t* has = inventory().free(slot);
        if (!takes(has, kind.needs) || !inventory().allowed(slot, rules_) ||
            !inventory().matches(vnode, kind.chunk))
            continue;
        FreeAmounts left{slot, Row(has, has + kind.needs.size())};
        for_each_binding(slot, [&](const Row& over) {
            for (std::size_t c = 0; c < over.size(); ++c) left.row[c] = std::min(left.row[c], over[c]);
        });
        if (!takes(left.row.data(), kind.needs)) continue;
        for (std::int64_t& amount : left.row) amount = counted(amount, host.end - host.first);
        all.push_back(std::move(left));
    }
    for (std::size_t i = std::max(first_part, taken_parts_); i < out_.parts.size(); ++i) {
        const Part& part = out_.parts[i];
        const auto left = std::ranges::find(all, part.vnode, &FreeAmounts::vnode);
        for (std::uint32_t c = kFirstResourceColumn; c < kind.needs.size(); ++c)
            left->row[c] = std::max<std::int64_t>(0, left->row[c] - kind.needs[c] * part.count);
    }
    if (rules_.rule == nullptr) return all;
    for (FreeAmounts& left : all) {
        for (std::uint32_t c = kFirstResourceColumn; c < kind.needs.size(); ++c) {
            if (kind.needs[c] <= 0) continue;
            Row one(kind.needs.size(), 0);  // pieces may be smaller than chunks
            one[c] = 1;
            left.row[c] = std::min(left.row[c], rules_.rule->most(left.vnode, one, out_));
        }
    }
    return all;
}

void PlaceSearch::divide(Kind& kind, std::vector<FreeAmounts>& left, std::int64_t most) {
    const Row& needs = kind.needs;
    // Returns whether the row (amounts or needs) has more than 0 of any resource that the chunk requests.
    const auto has_any = [&](const Row& row) {
        for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
            if (needs[c] > 0 && row[c] > 0) return true;
        return false;
    };
    std::int64_t count =
        std::min<std::int64_t>(most, request_.arrangement == Arrangement::scatter ? 1 : kind.left);
    for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c) {
        if (needs[c] <= 0) continue;
        std::int64_t sum = 0;
        for (const FreeAmounts& one : left) sum += one.row[c];
        count = std::min(count, sum / needs[c]);
    }
    if (count == 0 || !has_any(needs)) return;
    kind.left -= count;
    auto from = left.begin();
    for (; count > 0; --count) {
        Row rest = needs;
        bool joined = false;
        while (!has_any(from->row)) ++from;
        for (auto one = from; has_any(rest); ++one) joined = add_piece(kind, *one, rest, joined) || joined;
    }
}

// Gives the chunk as much of its remaining needs as the vnode has. The first piece also has the resources of
// which no vnode has an amount. Returns false if the vnode gives nothing.
bool PlaceSearch::add_piece(const Kind& kind, FreeAmounts& from, Row& rest, bool joined) {
    const std::size_t first = out_.amounts.size();
    bool of_vnode = false;
    for (const Need& need : kind.chunk.needs) {
        const std::uint32_t column = columns().of(need.resource);
        if (column == 0) {
            if (!joined) out_.amounts.push_back(need);
            continue;
        }
        const std::int64_t amount = std::min(rest[column], from.row[column]);
        if (amount <= 0) continue;
        of_vnode = true;
        rest[column] -= amount;
        from.row[column] -= amount;
        out_.amounts.push_back({need.resource, amount});
    }
    if (!of_vnode) {
        out_.amounts.resize(first);
        return false;
    }
    out_.parts.push_back({from.vnode, kind.number, 1, static_cast<std::uint32_t>(first),
                          static_cast<std::uint32_t>(out_.amounts.size() - first), joined});
    return true;
}

// Places all chunks on one host, trying hosts and single vnodes in the order of the pool.
bool PlaceSearch::pack_by_host() {
    const AllChunks whole = whole_of_request();
    note(whole.needs, memory_.asked);
    const MaximaTree::Minima asked = memory_.asked;
    bool placed = false;
    for_each_fit(pool_.tree, 0, [&](std::uint32_t item) {
        const Host& host = pool_.hosts[item];
        placed =
            host.is_shared() ? place_chunks({nullptr, &host}) : place_whole(pool_.vnodes[host.first], whole);
        memory_.asked = asked;  // the search on a host with several vnodes asks for single chunks
        return !placed;
    });
    return placed;
}

}  // namespace pbs::sched
