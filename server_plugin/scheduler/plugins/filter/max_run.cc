// max_run of the queue and of the server: how many jobs of each user, group and project, and of all together,
// run at once. A limit that names an entity comes before the one for each.

#include "server_plugin/scheduler/plugins/filter/entity_limit.h"

namespace pbs::sched {
namespace {

template <bool in_queue, EntityKind kind>
Refusal refusal(std::uint32_t entity, std::int64_t used, const EntityLimits& limits, QueueSlot queue) {
    const EntityLimits::Limit* limit = limits.on_jobs(kind);
    if (limit == nullptr) return {};
    const EntityLimits::Found found = limit->find(entity);
    if (found.most < 0 || used < found.most) return {};
    return Refusal::for_less_of({run_reason(in_queue, kind), queue, found.own ? entity : 0, found.most},
                                entity_key(in_queue, kind, queue, entity));
}

template <bool in_queue, EntityKind kind>
Refusal check_owner(const OwnerUse& owner, const Opening& o) {
    const EntityLimits& limits = in_queue ? o.queue->limits : o.server->limits;
    return refusal<in_queue, kind>(owner.id(), in_queue ? owner.running_in_queue() : owner.running(), limits,
                                   o.slot);
}

template <bool in_queue, EntityKind kind>
Refusal check_group(const GroupUse& group, const Opening& o) {
    const EntityLimits& limits = in_queue ? o.queue->limits : o.server->limits;
    return refusal<in_queue, kind>(group.id(), in_queue ? group.running_in_queue() : group.running(), limits,
                                   o.slot);
}

// Of projects, and of all.
template <bool in_queue, EntityKind kind>
Refusal check_max_run(CycleState& state, const Asked& job, QueueView& view) {
    const EntityLimits& limits = in_queue ? view.queue->limits : state.server->limits;
    const std::uint32_t entity = kind == EntityKind::project ? job.project : 0;
    const std::uint32_t scope = in_queue ? view.slot : EntityUse::kServer;
    return refusal<in_queue, kind>(entity, state.counts->entities().of(scope, kind, entity, kJobs), limits,
                                   view.slot);
}

template <bool in_queue, EntityKind kind>
bool is_open_max_run(const Opening& o) {
    return (in_queue ? o.queue->limits : o.server->limits).on_jobs(kind) == nullptr;
}

template <bool in_queue, EntityKind kind>
std::optional<JobSize> leaves_max_run(const CycleState& state, const UseKey& key) {
    if (key.kind != entity_key(in_queue, kind, 0, 0).kind) return std::nullopt;
    const EntityLimits& limits = in_queue ? (*state.queues)[key.object].limits : state.server->limits;
    const EntityLimits::Limit* limit = limits.on_jobs(kind);
    const std::int64_t most = limit == nullptr ? -1 : limit->find(key.of).most;
    if (most < 0) return std::nullopt;
    const std::uint32_t scope = in_queue ? key.object : EntityUse::kServer;
    return state.counts->entities().of(scope, kind, key.of, kJobs) < most ? kAnySize : kNoSize;
}

template <bool in_queue, EntityKind kind>
constexpr Filter filter(const char* name, Check check) {
    return {.name = name,
            .traits = by_limits_only | (kind == EntityKind::all ? 0U : about_entities),
            .check = check,
            .is_open = is_open_max_run<in_queue, kind>,
            .leaves = leaves_max_run<in_queue, kind>};
}

}  // namespace

using enum EntityKind;

extern const Filter kQueueMaxRunGroupFilter;
const Filter kQueueMaxRunGroupFilter =
    filter<true, group>("queue_max_run_group", OfGroup(check_group<true, group>));
extern const Filter kQueueMaxRunProjectFilter;
const Filter kQueueMaxRunProjectFilter =
    filter<true, project>("queue_max_run_project", OfSignature(check_max_run<true, project>));
extern const Filter kQueueMaxRunFilter;
const Filter kQueueMaxRunFilter = filter<true, all>("queue_max_run", OfSignature(check_max_run<true, all>));
extern const Filter kQueueMaxRunUserFilter;
const Filter kQueueMaxRunUserFilter =
    filter<true, user>("queue_max_run_user", OfOwner(check_owner<true, user>));
extern const Filter kServerMaxRunGroupFilter;
const Filter kServerMaxRunGroupFilter =
    filter<false, group>("server_max_run_group", OfGroup(check_group<false, group>));
extern const Filter kServerMaxRunProjectFilter;
const Filter kServerMaxRunProjectFilter =
    filter<false, project>("server_max_run_project", OfSignature(check_max_run<false, project>));
extern const Filter kServerMaxRunFilter;
const Filter kServerMaxRunFilter =
    filter<false, all>("server_max_run", OfSignature(check_max_run<false, all>));
extern const Filter kServerMaxRunUserFilter;
const Filter kServerMaxRunUserFilter =
    filter<false, user>("server_max_run_user", OfOwner(check_owner<false, user>));

}  // namespace pbs::sched
