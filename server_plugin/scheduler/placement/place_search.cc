#include "server_plugin/scheduler/placement/place_search.h"

#include <algorithm>
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

std::int64_t PlaceSearch::how_many(VnodeSlot slot, const Row& needs, const Chunk& chunk) const {
    const Vnode& vnode = inventory()[slot];
    if (!inventory().allowed(vnode, rules_) || !inventory().matches(vnode, chunk)) return 0;
    std::int64_t most = chunk.count;
    const auto limit_by = [&](const std::int64_t* has) {
        for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
            if (needs[c] > 0) most = std::min(most, std::max<std::int64_t>(0, has[c]) / needs[c]);
    };
    limit_by(inventory().free(slot));
    site_.reservations.for_each_binding(slot, rules_.ends, [&](const Row& over) {
        if (takes(over.data(), needs))
            limit_by(over.data());
        else
            most = 0;
    });
    return most;
}

void PlaceSearch::note(const Row& needs, MaximaTree::Asked& asked) {
    asked.clear();
    // Amounts come first: fewer vnodes have enough of an amount than are open, so most comparisons end at
    // once.
    for (auto c = static_cast<std::uint32_t>(needs.size()); c-- > 0;)
        if (needs[c] > 0) asked.emplace_back(c, needs[c]);
}

// Places all of one kind of chunks, walking once over the vnodes that have room.
bool PlaceSearch::place_kind(Kind& kind, const Among& among) {
    if (pool_.chunks == Chunks::divided) {
        place_by_host(kind, among.range.value_or(Range{0, pool_.tree.size()}));
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
    // The hosts that have chunks of this kind. Those of other kinds are few, and are looked up in `out_`.
    std::optional<std::unordered_set<std::uint32_t>> hosts;
    if (apart) hosts.emplace();
    const auto offer = [&](std::uint32_t position) {
        const VnodeSlot slot = pool_.vnodes[position];
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
    if (among.positions != nullptr) {
        for (const auto position : *among.positions) {
            if (!takes(inventory().free(pool_.vnodes[position]), kind.needs)) continue;
            offer(position);
            if (kind.left == 0) break;
        }
        return kind.left == 0;
    }
    note(kind.needs, memory_.asked);
    for (auto position = pool_.tree.next_fit(memory_.asked, 0); kind.left > 0 && position != kNoSlot;
         position = pool_.tree.next_fit(memory_.asked, position + 1))
        offer(position);
    return kind.left == 0;
}

// Takes a part from what is free (sign -1), so that the next kind of chunks sees it taken, or gives it back
// (sign 1).
void PlaceSearch::take(const Part& part, int sign) {
    const Row& needs = columns().needs_of(out_, part, request_, rules_.node_size, taken_);
    site_.index.add(site_.inventory, site_.pool, part.vnode, needs, part.count, sign);
    site_.reservations.use(part.vnode, needs, part.count, -sign, rules_.ends);
}

bool PlaceSearch::place_chunks(const Among& among) {
    out_.clear();
    bool placed = true;
    std::size_t taken = 0;  // how many of the parts are taken from what is free
    for (std::uint32_t c = 0; placed && c < request_.chunks.size(); ++c) {
        const Chunk& chunk = request_.chunks[c];
        const Row& needs = columns().needs_of(chunk, request_.exclusive, rules_.node_size, memory_.needs);
        Kind kind{c, chunk, needs, chunk.count};
        placed = place_kind(kind, among);
        if (!placed || c + 1 == request_.chunks.size()) break;
        for (; taken < out_.parts.size(); ++taken) take(out_.parts[taken], -1);
    }
    for (std::size_t i = 0; i < taken; ++i) take(out_.parts[i], 1);
    if (!placed) out_.clear();
    return placed;
}

PlaceSearch::Whole PlaceSearch::whole_of_request() const {
    Whole whole;
    whole.needs.assign(columns().size(), 0);
    for (const Chunk& chunk : request_.chunks) {
        const Row needs = columns().needs_of(chunk, request_.exclusive, rules_.node_size);
        for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
            whole.needs[c] += needs[c] * chunk.count;
        whole.needs[kOpenColumn] = needs[kOpenColumn];
        whole.needs[kEmptyColumn] = needs[kEmptyColumn];
        whole.chunk.matches.insert(whole.chunk.matches.end(), chunk.matches.begin(), chunk.matches.end());
    }
    return whole;
}

bool PlaceSearch::place_whole(VnodeSlot vnode, const Whole& whole) {
    if (how_many(vnode, whole.needs, whole.chunk) == 0) return false;
    for (std::uint32_t c = 0; c < request_.chunks.size(); ++c)
        out_.parts.push_back({vnode, c, request_.chunks[c].count});
    return true;
}

bool PlaceSearch::place_on_one_vnode() {
    const Whole whole = whole_of_request();
    note(whole.needs, memory_.asked);
    for (auto at = pool_.tree.next_fit(memory_.asked, 0); at != kNoSlot;
         at = pool_.tree.next_fit(memory_.asked, at + 1))
        if (place_whole(pool_.vnodes[at], whole)) return true;
    return false;
}

// Places all chunks on one host: on one vnode if possible, else on several vnodes of the host.
bool PlaceSearch::pack() {
    if (pool_.chunks == Chunks::divided) return pack_by_host();
    if (place_on_one_vnode()) return true;
    std::vector<std::uint32_t> first;
    for (const auto& [position, positions] : pool_.shared_hosts) first.push_back(position);
    std::ranges::sort(first);
    return std::ranges::any_of(first, [&](std::uint32_t position) {
        return place_chunks({&pool_.shared_hosts.at(position), {}});
    });
}

}  // namespace pbs::sched
