// An example of a rule that a site adds: a user has at most six CPUs of each vnode. The rule counts the CPUs
// itself, and the search for a place checks it for each vnode.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched::test {

inline constexpr std::int64_t kMostOfVnode = 6;

// Number of CPUs in use for each pair of a vnode and an owner.
using CpusOnVnodes = std::map<std::pair<VnodeSlot, std::uint32_t>, std::int64_t>;

inline std::uint32_t column_of_cpus(const CycleState& state) {
    return state.vnodes->columns().of(state.resources->known().ncpus);
}

inline std::int64_t cpus_in_use(const CycleState& state, VnodeSlot vnode, std::uint32_t owner) {
    const auto* all = state.own.find<CpusOnVnodes>();
    if (all == nullptr) return 0;
    const auto found = all->find({vnode, owner});
    return found == all->end() ? 0 : found->second;
}

inline std::int64_t cpus_of(std::span<const Vnodes::Share> shares, VnodeSlot vnode, std::uint32_t column) {
    std::int64_t cpus = 0;
    for (const Vnodes::Share& share : shares)
        if (share.vnode == vnode && share.column == column) cpus += share.amount;
    return cpus;
}

inline const OwnLimit kToyLimit{
    .words = "Not Running: User has six CPUs of each vnode",
    .entity = EntityKind::user,
    .most = [](CycleState& state, const JobNeeds& job, const User& user, const QueueView&, VnodeSlot vnode,
               const Row& needs, const Placement& given) -> std::int64_t {
        const std::uint32_t column = column_of_cpus(state);
        if (needs[column] == 0) return std::numeric_limits<std::int64_t>::max();
        Vnodes::Shares own;
        state.vnodes->shares_of(given, *job.request, state.vnode_share, own);
        const std::int64_t used = cpus_in_use(state, vnode, user.owner) + cpus_of(own, vnode, column);
        return std::max<std::int64_t>(0, kMostOfVnode - used) / needs[column];
    },
    .check = [](CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                const Placement& places) -> Reason {
        const std::uint32_t column = column_of_cpus(state);
        Vnodes::Shares own;
        state.vnodes->shares_of(places, *job.request, state.vnode_share, own);
        const bool allowed = std::ranges::all_of(own, [&](const Vnodes::Share& share) {
            return cpus_in_use(state, share.vnode, user.owner) + cpus_of(own, share.vnode, column) <=
                   kMostOfVnode;
        });
        return allowed ? Reason{} : Reason{ReasonCode::other, view.slot, state.strings->id(kToyLimit.words)};
    },
    .count =
        [](CycleState& state, const LimitUser& user, int sign) {
            for (const Vnodes::Share& share : user.shares)
                if (share.column == column_of_cpus(state))
                    state.own.of<CpusOnVnodes>()[{share.vnode, user.whose.owner}] += sign * share.amount;
        },
    .keep =
        [](CycleState& state, const LimitUser& user, Reservation& reservation) {
            const std::uint32_t owner = user.whose.owner;
            for (const Vnodes::Share& share : user.shares)
                if (share.column == column_of_cpus(state))
                    reservation.spare.push_back(
                        {{{UseScope::own, EntityKind::user, share.vnode, owner}, share.column, &kToyLimit},
                         kMostOfVnode - cpus_in_use(state, share.vnode, owner) - share.amount});
        },
    .use = [](CycleState&, const LimitUser& user, const LimitKey& key) -> std::int64_t {
        return user.whose.owner == key.use.of ? cpus_of(user.shares, key.use.object, key.what) : 0;
    }};

inline const Filter kToyQuota{.name = "toy_quota", .own_limit = &kToyLimit};

}  // namespace pbs::sched::test
