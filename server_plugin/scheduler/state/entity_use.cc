#include "server_plugin/scheduler/state/entity_use.h"

#include <algorithm>
#include <cassert>

namespace pbs::sched {

void EntityUse::watch(std::uint32_t scope, const EntityLimits& limits) {
    std::vector<Watched> watched;
    for (const EntityKind kind : kEntityKinds)
        for (const bool soft : {false, true})
            for (const EntityLimits::Limit& limit : limits.of(kind, soft))
                if (std::ranges::none_of(watched, [&](const Watched& known) {
                        return known.kind == kind && known.resource == limit.resource;
                    }))
                    watched.push_back({kind, limit.resource});
    if (watched.empty())
        watched_.erase(scope);
    else
        watched_[scope] = std::move(watched);
}

void EntityUse::count_in(std::uint32_t watched_scope, std::uint32_t scope, const CountedJob& job, int sign) {
    const auto found = watched_.find(watched_scope);
    if (found == watched_.end()) return;
    for (const Watched& watched : found->second) {
        const auto amount = asked_amount(*job.request, job.walltime, watched.resource);
        if (!amount || *amount == 0) continue;
        const Key key{scope, watched.kind, job.entities.of(watched.kind), watched.resource};
        const auto counted = use_.try_emplace(key).first;
        counted->second += values::Sum(*amount) * sign;
        assert(counted->second >= 0);  // jobs are counted again when the watched limits change
        if (counted->second == 0) use_.erase(counted);
    }
}

void EntityUse::add(const EntityUse& some, std::uint32_t queue, std::uint32_t partition,
                    const Entities& whose, int sign) {
    if (whose.array != 0)
        if (const std::int64_t jobs = some.of_array(whose.array); jobs != 0)
            subjobs_[whose.array] += sign * jobs;
    if (watched_.empty()) return;
    add_in(some, kServer, server_in(partition), whose, sign);
    add_in(some, queue, queue, whose, sign);
}

void EntityUse::add_in(const EntityUse& some, std::uint32_t watched_scope, std::uint32_t scope,
                       const Entities& whose, int sign) {
    const auto found = watched_.find(watched_scope);
    if (found == watched_.end()) return;
    for (const Watched& watched : found->second) {
        const Key key{scope, watched.kind, whose.of(watched.kind), watched.resource};
        if (const auto counted = some.use_.find(key); counted != some.use_.end())
            use_[key] += counted->second * sign;
    }
}

void EntityUse::count_subjob(std::uint32_t array, int sign) {
    const auto counted = subjobs_.try_emplace(array).first;
    counted->second += sign;
    assert(counted->second >= 0);
    if (counted->second == 0) subjobs_.erase(counted);
}

bool is_over_soft(const EntityLimits& limits, const EntityUse& use, std::uint32_t scope,
                  const CountedJob& job) {
    for (const EntityKind kind : kEntityKinds) {
        const std::uint32_t entity = job.entities.of(kind);
        for (const EntityLimits::Limit& limit : limits.of(kind, true)) {
            const std::int64_t most = limit.find(entity).most;
            if (most < 0 || !asked_amount(*job.request, job.walltime, limit.resource)) continue;
            if (use.of(scope, kind, entity, limit.resource) > most) return true;
        }
    }
    return false;
}

}  // namespace pbs::sched
