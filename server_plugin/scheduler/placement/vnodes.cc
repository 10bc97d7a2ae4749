#include "server_plugin/scheduler/placement/vnodes.h"

#include <algorithm>
#include <limits>
#include <map>

namespace pbs::sched {
namespace {

Columns::Room both(const Columns::Room& a, const Columns::Room& b) {
    const auto sum = [](std::int64_t x, std::int64_t y) {
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
        x = std::max<std::int64_t>(0, x);
        y = std::max<std::int64_t>(0, y);
        return x > kMost - y ? kMost : x + y;
    };
    return {sum(a.first, b.first), sum(a.second, b.second)};
}

}  // namespace

bool Vnodes::holds_in(PoolId pool, JobSlot job) const {
    return std::ranges::any_of(held_by(job), [&](VnodeSlot vnode) { return is_of(pool, vnode); });
}

bool Vnodes::find(PoolId pool, const Request& request, const PlaceRules& rules, Placement& out) {
    const PlaceSearch::Site site{*this, index_, reservations_, bookings_, pool};
    if (!PlaceSearch(site, request, rules, search_, out).run()) return false;
    if (rules.prefers && !request.preferences.empty() &&
        PlaceSearch(site, request, rules, search_, preferred_).run_by_preferences())
        std::swap(out, preferred_);
    return true;
}

std::vector<std::string> Vnodes::names_of_sets(PoolId pool, const Request& request, const PlaceRules& rules,
                                               const SetRules& asked) {
    constexpr std::size_t kMost = 64;
    std::vector<std::string> names;
    if (rules.groups.empty()) return names;
    for (const PlacementSet* set : sets_.of(*this, pool, pool_vnodes(pool), rules.groups, asked))
        if ((!asked.only_explicit || !set->is_rest) &&
            set->may_hold(*this, request, rules.node_size, set->free))
            names.push_back(set->name);
    if (names.size() > kMost) names.erase(names.begin(), names.end() - kMost);
    return names;
}

bool Vnodes::find_in_sets(PoolId pool, const Request& request, const PlaceRules& rules, const SetRules& asked,
                          Placement& out, std::string* name) {
    if (name != nullptr) name->clear();
    if (rules.groups.empty()) return find(pool, request, rules, out);
    const auto& sets = sets_.of(*this, pool, pool_vnodes(pool), rules.groups, asked);
    bool fits_one = false;
    const PlacementSet* largest = nullptr;
    PlaceRules in_set = rules;
    for (const PlacementSet* set : sets) {
        if (asked.only_explicit && set->is_rest) continue;
        if (!asked.only.empty() && set->name != asked.only) continue;
        largest = set;
        fits_one = fits_one || set->may_hold_if_empty(*this, request, rules);
        if (!set->may_hold(*this, request, rules.node_size, set->free)) continue;
        in_set.within = &set->has;
        if (!find(pool, request, in_set, out)) continue;
        if (name != nullptr) *name = set->name;
        return true;
    }
    if (!fits_one && asked.spans && asked.only.empty()) return find(pool, request, rules, out);
    if (fits_one && name != nullptr) *name = largest->name;
    out.clear();
    return false;
}

std::vector<std::vector<bool>> Vnodes::sets_with(PoolId pool, const Request& request, const PlaceRules& rules,
                                                 const SetRules& asked, std::span<const VnodeSlot> vnodes) {
    std::vector<std::vector<bool>> out;
    bool fits_one = false;
    for (const PlacementSet* set : sets_.of(*this, pool, pool_vnodes(pool), rules.groups, asked)) {
        if (asked.only_explicit && set->is_rest) continue;
        fits_one = fits_one || set->may_hold_if_empty(*this, request, rules);
        if (std::ranges::all_of(vnodes, [&](VnodeSlot vnode) { return set->has[vnode]; }))
            out.push_back(set->has);
    }
    if (!fits_one && asked.spans) out.emplace_back(size(), true);
    return out;
}

// Adds up the parts on each vnode, and then compares them with its free amounts.
std::optional<Vnodes::Obstacle> Vnodes::obstacle(PoolId pool, const Request& request, const PlaceRules& rules,
                                                 const Placement& placement) const {
    using Cause = Obstacle::Cause;
    std::map<VnodeSlot, Row> taken;
    Row kept;
    for (const Part& part : placement) {
        if (!is_open(pool, part.vnode)) return Obstacle{part.vnode, Cause::closed};
        if (!allowed(part.vnode, rules)) return Obstacle{part.vnode, Cause::rules};
        const Row& needs = columns().needs_of(placement, part, request, rules.node_size, kept);
        Row& sum = taken.try_emplace(part.vnode, Row(columns().size(), 0)).first->second;
        for (std::uint32_t c = kFirstResourceColumn; c < columns().size(); ++c)
            sum[c] += needs[c] * part.count;
    }
    // The first column of which less is there than is asked for; 0: there is none.
    const auto lacking = [](const std::int64_t* has, const Row& sum) -> std::uint32_t {
        for (std::uint32_t c = kFirstResourceColumn; c < sum.size(); ++c)
            if (sum[c] > 0 && has[c] < sum[c]) return c;
        return 0;
    };
    for (const auto& of_vnode : taken) {
        const VnodeSlot vnode = of_vnode.first;
        const Row& sum = of_vnode.second;
        if (free(vnode)[kEmptyColumn] < emptiness_for(request.sharing)) return Obstacle{vnode, Cause::shared};
        if (const std::uint32_t c = lacking(free(vnode), sum); c != 0)
            return Obstacle{vnode, Cause::amount, columns().resource(c), sum[c], free(vnode)[c]};
        bool leaves = true;
        const auto ask = [&](const Row& over) {
            leaves = leaves && over[kOpenColumn] != Columns::closed && lacking(over.data(), sum) == 0 &&
                     over[kEmptyColumn] >= emptiness_for(request.sharing);
        };
        if (rules.booking == kNoSlot) reservations_.for_each_binding(vnode, rules.ends, ask);
        bookings_.for_each_binding(vnode, rules, ask);
        if (!leaves) return Obstacle{vnode, Cause::kept};
    }
    return std::nullopt;
}

Vnodes::Room Vnodes::room_until(VnodeSlot vnode, std::uint32_t first, std::uint32_t second,
                                Instant ends) const {
    Room room = columns().room_of(free(vnode), first, second);
    reservations_.for_each_binding(vnode, ends, [&](const Row& row) {
        const Room over = columns().room_of(row.data(), first, second);
        room = {std::min(room.first, over.first), std::min(room.second, over.second)};
    });
    return room;
}

Vnodes::Room Vnodes::host_room_until(PoolId id, VnodeSlot vnode, std::uint32_t first, std::uint32_t second,
                                     Instant ends) {
    const std::uint32_t number = index_.host_in(id, vnode);
    if (number == kNoSlot) return room_until(vnode, first, second, ends);
    const FitIndex::Pool& pool = index_[id];
    const FitIndex::Host& host = pool.hosts[number];
    if (!host.is_shared()) return room_until(vnode, first, second, ends);
    if (reservations_.empty()) {
        index_.settle(*this);
        return columns().room_of(pool.tree.row(number), first, second);
    }
    Room sum;
    for (std::uint32_t i = host.first; i < host.end; ++i)
        if (free(pool.vnodes[i])[kOpenColumn] == Columns::open)
            sum = both(sum, room_until(pool.vnodes[i], first, second, ends));
    return sum;
}

bool Vnodes::counts(PoolId pool, VnodeSlot vnode, std::uint32_t column) const {
    return column >= kFirstResourceColumn && column < columns().size() && (*this)[vnode].free &&
           free(vnode)[column] >= 0 && is_of(pool, vnode);
}

std::uint64_t Vnodes::counted_columns(VnodeSlot vnode) const {
    std::uint64_t number = (*this)[vnode].free ? 1 : 0;
    for (std::uint32_t c = kFirstResourceColumn; c < columns().size(); ++c)
        number = number * 3 + (free(vnode)[c] >= 0 ? 1 : 0);
    return number;
}

std::int64_t Vnodes::capacity(PoolId pool, std::uint32_t column) const {
    std::int64_t sum = 0;
    for (const VnodeSlot vnode : pool_vnodes(pool))
        if ((*this)[vnode].free) sum += std::max<std::int64_t>(0, total(vnode)[column]);
    return sum;
}

void Vnodes::use_reserved(const Placement& placement, const Request& request, const PlaceRules& rules,
                          int sign, Instant starts) {
    use_booked(placement, request, rules, sign);
    if (reservations_.empty() || rules.booking != kNoSlot) return;
    Row kept;
    for (const Part& part : placement)
        reservations_.use(part.vnode, columns().needs_of(placement, part, request, rules.node_size, kept),
                          part.count, sign, rules.ends, starts);
}

void Vnodes::use_booked(const Placement& placement, const Request& request, const PlaceRules& rules,
                        int sign) {
    if (bookings_.empty()) return;
    Row kept;
    for (const Part& part : placement)
        bookings_.use(part.vnode, columns().needs_of(placement, part, request, rules.node_size, kept),
                      part.count, sign, rules);
}

}  // namespace pbs::sched
