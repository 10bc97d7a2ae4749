#include "tools/simulate/held_places.h"

#include <algorithm>

namespace pbs::simulate {

using sched::Amount;
using sched::Place;

void HeldPlaces::take(std::span<const Place> places, const Cluster& cluster) {
    places_.assign(places.begin(), places.end());
    amounts_.clear();
    for (const Place& place : places_)
        amounts_.insert(amounts_.end(), place.amounts.begin(), place.amounts.end());
    auto next = amounts_.begin();
    for (Place& place : places_) {
        const auto end = next + static_cast<std::ptrdiff_t>(place.amounts.size());
        if (!cluster.is_all_released())
            std::stable_partition(next, end,
                                  [&](const Amount& amount) { return cluster.is_released(amount.resource); });
        place.amounts = {next, end};
        next = end;
    }
}

void HeldPlaces::split(const Cluster& cluster, Suspended& parts) const {
    parts.released.clear();
    parts.kept.clear();
    for (const Place& place : places_) {
        const auto kept = std::ranges::partition_point(
            place.amounts, [&](const Amount& amount) { return cluster.is_released(amount.resource); });
        parts.released.push_back({place.vnode, {place.amounts.begin(), kept}});
        parts.kept.push_back({place.vnode, {kept, place.amounts.end()}});
    }
}

}  // namespace pbs::simulate
