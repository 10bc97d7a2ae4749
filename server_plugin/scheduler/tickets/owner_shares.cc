#include "server_plugin/scheduler/tickets/owner_shares.h"

namespace pbs::sched {

OwnerShares::OwnerShares(std::span<const OwnerWeight> weights, const Interner& strings) : strings_(strings) {
    for (const OwnerWeight& weight : weights) {
        Kind& kind = kinds_[static_cast<std::size_t>(weight.kind)];
        if (weight.name == "PBS_GENERIC")
            kind.usual = weight.weight;
        else
            kind.own[weight.name] = weight.weight;
    }
}

OwnerShares::Owners OwnerShares::owners(const Names& names) {
    Owners found{};
    for (std::size_t k = 0; k < kOwnerKinds; ++k) {
        Kind& kind = kinds_[k];
        found[k] = kNobody;
        if ((kind.own.empty() && kind.usual == 0) || names[k] == 0) continue;
        if (kind.known.size() <= names[k]) kind.known.resize(strings_.size());
        std::optional<std::uint32_t>& known = kind.known[names[k]];
        if (!known) {
            const auto own = kind.own.find(strings_.text(names[k]));
            const double shares = own != kind.own.end() ? own->second : kind.usual;
            known = shares > 0 ? static_cast<std::uint32_t>(owners_.size()) : kNobody;
            if (shares > 0) owners_.push_back({shares});
        }
        found[k] = *known;
    }
    return found;
}

}  // namespace pbs::sched
