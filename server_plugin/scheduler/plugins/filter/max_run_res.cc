// max_run_res of the queue and of the server: how much of a resource the running jobs of each user, group and
// project, and of all together, use at once. A limit that names an entity comes before the one for each. A
// job that doesn't ask for the resource isn't concerned.

#include "server_plugin/scheduler/plugins/filter/entity_limit.h"

namespace pbs::sched {
namespace {

// In OpenPBS's order.
constexpr std::array kOrder = {EntityKind::group, EntityKind::project, EntityKind::all, EntityKind::user};

Refusal check_in(bool in_queue, const EntityLimits& limits, CycleState& state, const Asked& job,
                 const Entities& whose, QueueSlot queue) {
    const std::uint32_t scope = in_queue ? queue : EntityUse::kServer;
    for (const EntityKind kind : kOrder) {
        const std::uint32_t entity = whose.of(kind);
        for (const EntityLimits::Limit& limit : limits.of(kind)) {
            if (limit.resource == kJobs) continue;
            const EntityLimits::Found found = limit.find(entity);
            if (found.most < 0) continue;
            const auto asked = asked_amount(*job.request, job.asked, limit.resource);
            if (!asked) continue;
            const std::int64_t used = state.counts->entities().of(scope, kind, entity, limit.resource);
            if (used + *asked <= found.most) continue;
            return Refusal::for_less_of(
                {amount_reason(in_queue, kind), queue, real_resource(limit.resource, *state.resources),
                 *asked, found.most, found.own ? entity : 0},
                entity_key(in_queue, kind, queue, entity));
        }
    }
    return {};
}

Refusal check_max_run_res(CycleState& state, const Asked& job, const User& user, QueueView& view) {
    const Entities whose{user.owner, user.group, job.project};
    if (Refusal in_queue = check_in(true, view.queue->limits, state, job, whose, view.slot)) return in_queue;
    return check_in(false, state.server->limits, state, job, whose, view.slot);
}

bool is_open_max_run_res(const Opening& o) {
    return !o.queue->limits.on_resources() && !o.server->limits.on_resources();
}

bool reads_user_max_run_res(const CycleState& state, const QueueView& view) {
    const auto of_users = [](const EntityLimits& limits) {
        return limits.on_resources(EntityKind::user) || limits.on_resources(EntityKind::group);
    };
    return of_users(view.queue->limits) || of_users(state.server->limits);
}

// Anything that is left may be enough for some job.
std::optional<JobSize> leaves_max_run_res(const CycleState& state, const UseKey& key) {
    std::optional<JobSize> left;
    const auto look = [&](bool in_queue, const EntityLimits& limits) {
        for (const EntityKind kind : kOrder)
            if (entity_key(in_queue, kind, 0, 0).kind == key.kind && limits.on_resources(kind))
                left = kAnySize;
    };
    if (key.object < state.queues->size()) look(true, (*state.queues)[key.object].limits);
    look(false, state.server->limits);
    return left;
}

}  // namespace

extern const Filter kMaxRunResFilter;
const Filter kMaxRunResFilter{.name = "max_run_res",
                              .traits = by_limits_only | about_entities,
                              .check = check_max_run_res,
                              .is_open = is_open_max_run_res,
                              .leaves = leaves_max_run_res,
                              .reads_user = reads_user_max_run_res};

}  // namespace pbs::sched
