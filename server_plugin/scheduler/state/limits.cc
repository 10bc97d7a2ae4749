#include "server_plugin/scheduler/state/limits.h"

#include <algorithm>

#include "server_plugin/scheduler/state/cycle_state.h"

namespace pbs::sched {

LimitUser limit_user(const Asked& job, const User& user, const QueueView& view, const Placement& placement) {
    return {{user.owner, user.group, job.project},
            job.nodes,
            job.request,
            job.asked,
            view.slot,
            std::span(&view.number, 1),
            view.dedicated ? 1 : 0,
            &placement};
}

std::vector<Limit> limits_of(const CycleState& state, const Asked& job, const User& user,
                             const QueueView& view) {
    const Queue& queue = *view.queue;
    const ServerLimits& server = *state.server;
    const Settings& settings = *state.settings;
    std::vector<Limit> limits;
    const auto add = [&](LimitKind kind, std::uint32_t object, std::uint32_t of, std::int64_t amount,
                         std::int64_t capacity) {
        if (capacity >= 0) limits.push_back({{kind, object, of}, amount, capacity});
    };
    const auto add_amount = [&](LimitKind kind, std::uint32_t object, const KeptAmount& a) {
        if (!state.resources->consumable(a.resource) || state.is_left_aside(a.resource)) return;
        if (const auto asked = number_of(job.request->totals, a.resource))
            limits.push_back({{kind, object, a.resource}, *asked, a.number});
    };
    add(LimitKind::queue_jobs, view.number, 0, 1, queue.max_running);
    add(LimitKind::queue_nodes, view.number, 0, job.nodes, view.node_limit);
    for (const KeptAmount& a : queue.resources_available) add_amount(LimitKind::queue_amount, view.number, a);
    add(LimitKind::queue_user, view.slot, user.owner, 1, queue.max_user_run);
    add(LimitKind::queue_group, view.slot, user.group, 1, queue.max_group_run);
    add(LimitKind::server_jobs, 0, 0, 1, server.max_running);
    for (const ServerAmount& a : state.server_amounts) add_amount(LimitKind::server_amount, 0, a.available);
    add(LimitKind::server_user, 0, user.owner, 1, server.max_user_run);
    add(LimitKind::server_group, 0, user.group, 1, server.max_group_run);
    if (settings.max_user_run_jobs > 0)
        add(LimitKind::server_user, 0, user.owner, 1, settings.max_user_run_jobs);
    if (settings.max_dedicated_jobs > 0 && view.dedicated)
        add(LimitKind::dedicated_jobs, 0, 0, 1, settings.max_dedicated_jobs);
    const Entities whose{user.owner, user.group, job.project};
    const auto add_entities = [&](const EntityLimits& of_entities, std::uint32_t scope) {
        for (const EntityKind kind : kEntityKinds)
            for (const EntityLimits::Limit& limit : of_entities.of(kind)) {
                const std::int64_t most = limit.find(whose.of(kind)).most;
                const auto amount = asked_amount(*job.request, job.asked, limit.resource);
                if (most < 0 || !amount) continue;
                limits.push_back(
                    {{LimitKind::entity, scope, whose.of(kind), kind, limit.resource}, *amount, most});
            }
    };
    add_entities(queue.limits, view.slot);
    add_entities(server.limits, EntityUse::kServer);
    return limits;
}

std::int64_t use_of(const Vnodes& vnodes, const LimitUser& user, const LimitKey& key) {
    const auto amount = [&](std::uint32_t resource) {
        return number_of(user.request->totals, resource).value_or(0);
    };
    const auto in_view = [&] { return std::ranges::count(user.views, key.object); };
    switch (key.kind) {
        case LimitKind::queue_jobs:
            return in_view();
        case LimitKind::queue_nodes:
            return in_view() * user.nodes;
        case LimitKind::queue_amount:
            return in_view() > 0 ? in_view() * amount(key.of) : 0;
        case LimitKind::queue_user:
            return user.queue == key.object && user.whose.owner == key.of ? 1 : 0;
        case LimitKind::queue_group:
            return user.queue == key.object && user.whose.group == key.of ? 1 : 0;
        case LimitKind::server_jobs:
            return 1;
        case LimitKind::server_amount:
            return amount(key.of);
        case LimitKind::server_user:
            return user.whose.owner == key.of ? 1 : 0;
        case LimitKind::server_group:
            return user.whose.group == key.of ? 1 : 0;
        case LimitKind::dedicated_jobs:
            return user.dedicated_views;
        case LimitKind::host_jobs:
            return user.placement != nullptr && std::ranges::any_of(*user.placement, [&](const Part& part) {
                       return vnodes[part.vnode].host == key.object;
                   });
        case LimitKind::entity:
            if (key.object != EntityUse::kServer && key.object != user.queue) break;
            if (user.whose.of(key.entity) != key.of) break;
            return asked_amount(*user.request, user.walltime, key.resource).value_or(0);
        case LimitKind::pool_amount:
            break;
    }
    return 0;
}

void use_spare(CycleState& state, const LimitUser& user, Instant starts, Instant ends) {
    for (Reservation& reservation : state.reservations) {
        if (reservation.start <= starts || ends <= reservation.start) continue;
        for (auto& spare : reservation.spare) spare.left -= use_of(*state.vnodes, user, spare.key);
    }
}

}  // namespace pbs::sched
