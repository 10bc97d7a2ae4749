#include "server_plugin/host/state/reservation_select.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/select_spec.h"

namespace pbs::host {
namespace {

using Chunks = std::vector<Chunk>;

Result<Chunks> chunks_of(const Reservation& reservation, const State& state) {
    return parse_select(reservation.attributes.text("schedselect"), state.resources);
}

// For each chunk of the select `fewer`, finds the index of the matching chunk in the select `all`. Returns an
// empty list if `fewer` isn't a part of `all`.
std::vector<size_t> matching(const Chunks& all, const Chunks& fewer) {
    std::vector<size_t> of;
    for (size_t i = 0; i < all.size() && of.size() < fewer.size(); ++i)
        if (all[i].resources == fewer[of.size()].resources && fewer[of.size()].count <= all[i].count)
            of.push_back(i);
    if (of.size() < fewer.size()) of.clear();
    return of;
}

// Groups places by chunk. A chunk has one place, or several places with a part of the chunk each.
std::vector<std::span<const Place>> by_chunk(const std::vector<Place>& places) {
    std::vector<std::span<const Place>> groups;
    for (auto first = places.begin(); first != places.end();) {
        const auto next =
            std::find_if(first + 1, places.end(), [](const Place& place) { return !place.joined; });
        groups.emplace_back(first, next);
        first = next;
    }
    return groups;
}

// The amounts that a reservation's running jobs use, by vnode and resource. keep() subtracts the amounts of a
// chunk that the reservation keeps.
class Used {
  public:
    Used(const Reservation& reservation, const State& state) {
        const Queue* queue = state.queue(reservation.queue_name());
        if (queue == nullptr) return;
        for (const uint64_t handle : state.queue_jobs(queue->handle))
            if (const Job* job = state.job(handle); job != nullptr && job->running())
                for (const Place& place : job->places) add(place, 1);
    }
    // Returns whether jobs use more on one of this chunk's vnodes than the chunks that are kept already have
    // there.
    bool needs(std::span<const Place> chunk) const {
        return std::ranges::any_of(chunk, [&](const Place& place) {
            const auto found = amounts_.find(place.node);
            return found != amounts_.end() && is_some(found->second);
        });
    }
    void keep(std::span<const Place> chunk) {
        for (const Place& place : chunk)
            if (amounts_.contains(place.node)) add(place, -1);
    }
    bool is_all_kept() const {
        return std::ranges::none_of(amounts_, [](const auto& of) { return is_some(of.second); });
    }

  private:
    using OfVnode = std::map<uint32_t, int64_t>;
    static bool is_some(const OfVnode& amounts) {
        return std::ranges::any_of(amounts, [](const auto& one) { return one.second > 0; });
    }
    void add(const Place& place, int64_t sign) {
        OfVnode& of = amounts_[place.node];
        for (const auto& [id, amount] : place.amounts) of[id] += sign * amount;
    }
    std::map<uint64_t, OfVnode> amounts_;
};

}  // namespace

void unset_sums(Reservation& reservation, std::string_view select, const State& state) {
    const auto chunks = parse_select(select, state.resources);
    if (!chunks) return;
    const AttributeDef& list = *reservation_table().find("Resource_List");
    reservation.attributes.unset(list, "nodect");
    for (const Chunk& chunk : *chunks)
        for (const auto& [name, value] : chunk.resources) reservation.attributes.unset(list, name);
}

Result<void> set_select(Reservation& reservation, std::string_view select, const State& state) {
    const auto before = chunks_of(reservation, state);
    if (!before) return tl::unexpected(before.error());
    unset_sums(reservation, reservation.attributes.text("schedselect"), state);
    reservation.attributes.set(*reservation_table().find("Resource_List"), "select", select);
    if (auto ok = complete_list(reservation, state); !ok) return ok;
    const auto after = chunks_of(reservation, state);
    if (!after) return tl::unexpected(after.error());
    if (!matching(*before, *after).empty()) return {};
    return fail(
        PBSE_SELECT_NOT_SUBSET,
        fmt::format("Illegal select \"{}\": expected fewer of the chunks that the reservation has", select));
}

Result<std::vector<Place>> places_kept(const Reservation& current, const Reservation& altered,
                                       const State& state) {
    const auto all = chunks_of(current, state);
    const auto fewer = chunks_of(altered, state);
    if (!all) return tl::unexpected(all.error());
    if (!fewer) return tl::unexpected(fewer.error());
    const auto groups = by_chunk(current.places);
    const std::vector<size_t> of = matching(*all, *fewer);
    std::vector<bool> kept(groups.size());
    Used used(current, state);
    // Check that all chunks have places. A degraded reservation has lost some places, and it is unknown for
    // which chunks.
    int64_t chunks = 0;
    for (const Chunk& chunk : *all) chunks += chunk.count;
    if (of.empty() || std::cmp_not_equal(chunks, groups.size())) return fail(PBSE_SELECT_NOT_SUBSET);
    for (const bool only_used : {true, false}) {
        size_t first = 0;
        size_t next = 0;
        for (size_t i = 0; i < all->size(); ++i) {
            const auto end = first + static_cast<size_t>((*all)[i].count);
            if (next < of.size() && of[next] == i) {
                auto left = (*fewer)[next++].count -
                            std::count(kept.begin() + static_cast<std::ptrdiff_t>(first),
                                       kept.begin() + static_cast<std::ptrdiff_t>(end), true);
                for (size_t group = first; group < end && left > 0; ++group) {
                    if (kept[group] || (only_used && !used.needs(groups[group]))) continue;
                    kept[group] = true;
                    used.keep(groups[group]);
                    --left;
                }
            }
            first = end;
        }
    }
    if (!used.is_all_kept())
        return fail(PBSE_RESV_NOT_EMPTY,
                    "Reservation not empty: jobs run on more of its vnodes than it would keep");
    std::vector<Place> places;
    for (size_t group = 0; group < groups.size(); ++group)
        if (kept[group]) places.insert(places.end(), groups[group].begin(), groups[group].end());
    return places;
}

}  // namespace pbs::host
