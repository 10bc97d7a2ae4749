// The search for places in rounds (chunk_order), and with a fixed number of chunks on each host (per_host).

#include <algorithm>
#include <unordered_map>

#include "server_plugin/scheduler/placement/place_search.h"

namespace pbs::sched {

// Returns the vnodes with room for chunks of this kind, in order, but only the first `most`.
std::vector<PlaceSearch::Offer> PlaceSearch::offers(const Kind& kind, std::int64_t most) const {
    std::vector<Offer> found;
    const auto offer = [&](VnodeSlot vnode) {
        if (!takes(inventory().free(vnode), kind.needs)) return true;
        if (const std::int64_t room = room_on(vnode, kind.needs, kind.chunk); room > 0)
            found.push_back({vnode, room});
        return static_cast<std::int64_t>(found.size()) < most;
    };
    for_each_fit(pool_.tree, 0, [&](std::uint32_t item) {
        if (pool_.hosts.empty()) return offer(pool_.vnodes[item]);
        const Host& host = pool_.hosts[item];
        if (!host.is_shared()) return offer(pool_.vnodes[host.first]);
        bool more = true;
        for_each_fit(pool_.host_trees[host.tree], host.first, [&](std::uint32_t of_host) {
            more = offer(pool_.vnodes[host.first + of_host]);
            return more;
        });
        return more;
    });
    return found;
}

// Each vnode gives one whole chunk in each round. The search by vnodes then places the chunks that are left:
// those that have to be divided and, if a rule has to see each chunk, those after the first kMostInTurn.
void PlaceSearch::place_in_rounds(Kind& kind) {
    note(kind.needs, memory_.asked);
    const bool asks = rules_.rule != nullptr;
    std::vector<Offer> open = offers(kind, asks ? INT64_MAX : kind.left);
    const auto give = [&](Offer& offer, std::int64_t count) {
        if (offer.part == SIZE_MAX) {
            offer.part = out_.parts.size();
            out_.parts.push_back({offer.vnode, kind.number, 0});
        }
        out_.parts[offer.part].count += count;
        offer.room -= count;
        kind.left -= count;
    };
    std::int64_t asked = 0;
    for (bool given = true; given && kind.left > 0 && !open.empty() && asked < kMostInTurn;) {
        given = false;
        // Without a rule, give whole rounds at once.
        const auto vnodes = static_cast<std::int64_t>(open.size());
        const std::int64_t least = std::ranges::min(open, {}, &Offer::room).room;
        const std::int64_t rounds = asks ? 1 : std::max<std::int64_t>(1, std::min(least, kind.left / vnodes));
        for (Offer& offer : open) {
            if (kind.left == 0 || (asks && ++asked > kMostInTurn)) break;
            // A vnode that may give none now may give one later: rules look at the job's first vnode.
            if (asks && rules_.rule->most(offer.vnode, kind.needs, out_) < 1) continue;
            give(offer, rounds);
            given = true;
        }
        std::erase_if(open, [](const Offer& offer) { return offer.room == 0; });
    }
    if (kind.left > 0) take_all();
}

// Places all chunks on hosts that give exactly per_host of them each. Passes over hosts that have room for
// fewer.
void PlaceSearch::place_per_host(Kind& kind) {
    note(kind.needs, memory_.asked);
    if (!pool_.hosts.empty()) {
        for_each_fit(pool_.tree, 0, [&](std::uint32_t item) {
            Kind of_host = kind;
            of_host.left = request_.per_host;
            const std::size_t parts = out_.parts.size();
            const std::size_t amounts = out_.amounts.size();
            place_on_host(of_host, pool_.hosts[item]);
            if (of_host.left == 0) {
                kind.left -= request_.per_host;
            } else {
                out_.parts.resize(parts);
                out_.amounts.resize(amounts);
            }
            return kind.left > 0;
        });
        return;
    }
    // The offers by host; hosts are in the order of their first vnodes.
    std::vector<std::vector<Offer>> hosts;
    std::unordered_map<std::uint32_t, std::size_t> number_of;
    for (const Offer& offer : offers(kind, INT64_MAX)) {
        const auto [known, is_new] = number_of.try_emplace(inventory()[offer.vnode].host, hosts.size());
        if (is_new) hosts.emplace_back();
        hosts[known->second].push_back(offer);
    }
    for (const std::vector<Offer>& host : hosts)
        if (kind.left > 0 && place_per_host(kind, host)) kind.left -= request_.per_host;
}

// Places per_host chunks on these vnodes, or none.
bool PlaceSearch::place_per_host(Kind& kind, std::span<const Offer> of_host) {
    const std::size_t parts = out_.parts.size();
    std::int64_t left = request_.per_host;
    for (const Offer& offer : of_host) {
        std::int64_t count = std::min(left, offer.room);
        if (rules_.rule != nullptr) count = std::min(count, rules_.rule->most(offer.vnode, kind.needs, out_));
        if (count <= 0) continue;
        out_.parts.push_back({offer.vnode, kind.number, count});
        left -= count;
        if (left == 0) return true;
    }
    out_.parts.resize(parts);
    return false;
}

}  // namespace pbs::sched
