#include "server_plugin/scheduler/state/limits.h"

#include <algorithm>
#include <cassert>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

LimitUser limit_user(CycleState& state, JobSlot job, Vnodes::Shares& shares) {
    const Tables& tables = *state.tables;
    state.vnodes->shares_held(job, shares);
    return {.whose = tables.jobs.entities(job),
            .request = &tables.requests[tables.jobs.request[job]],
            .walltime = tables.jobs.walltime[job],
            .queue = tables.jobs.queue[job],
            .views = {},
            .shares = shares,
            .ends = state.planned_end(job),
            .state = &state,
            .began = tables.jobs.stime[job]};
}

LimitUser limit_user(CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                     const Placement& placement, Vnodes::Shares& shares) {
    if (state.limits_count_vnodes)
        state.vnodes->shares_of(placement, *job.request, state.vnode_share, shares);
    return {entities_of(job, user),
            job.nodes,
            job.request,
            job.asked,
            view.slot,
            std::span(&view.number, 1),
            view.dedicated ? 1 : 0,
            &placement,
            shares,
            state.ends(job),
            &state,
            state.now};
}

std::int64_t use_of(const Vnodes& vnodes, const LimitUser& user, const LimitKey& key) {
    const UseKey& whose = key.use;
    std::int64_t times = 1;  // how often the job counts
    switch (whose.scope) {
        case UseScope::server:
            break;
        case UseScope::queue:
            times = user.queue == whose.object ? 1 : 0;
            break;
        case UseScope::view:
            times = std::ranges::count(user.views, whose.object);
            break;
        case UseScope::dedicated:
            times = user.dedicated_views;
            break;
        case UseScope::host:
            return user.placement != nullptr && std::ranges::any_of(*user.placement, [&](const Part& part) {
                       return vnodes[part.vnode].host == whose.object;
                   });
        case UseScope::pool:
            return 0;
        case UseScope::own:
            assert(user.state !=
                   nullptr);  // a reservation that is kept from cycle to cycle has none of these
            return key.limit->use(*user.state, user, key);
    }
    if (times == 0 || user.whose.of(whose.entity) != whose.of) return 0;
    if (key.what == kNodes) return times * user.nodes;
    return times * asked_amount(*user.request, user.walltime, key.what).value_or(0);
}

void use_spare(CycleState& state, const LimitUser& user, Instant starts, Instant ends, int sign) {
    for (Reservation& reservation : state.reservations) {
        if (reservation.start <= starts || ends <= reservation.start) continue;
        for (auto& spare : reservation.spare)
            spare.left -= values::Sum(use_of(*state.vnodes, user, spare.key)) * sign;
    }
}

}  // namespace pbs::sched
