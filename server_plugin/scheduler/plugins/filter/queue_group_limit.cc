// max_group_run of the queue.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_queue_group_limit(const GroupUse& group, const Opening& o) {
    const auto limit = o.queue->max_group_run;
    if (limit < 0 || group.running_in_queue() < limit) return {};
    return Refusal::for_less_of({ReasonCode::queue_group_limit, o.slot, 0, limit},
                                {UseKey::Kind::queue_group, o.slot, group.id()});
}

std::optional<JobSize> leaves_queue_group_limit(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::queue_group) return std::nullopt;
    const auto limit = (*state.queues)[key.object].max_group_run;
    if (limit < 0) return std::nullopt;
    return state.counts->of_group(key.object, key.of) < limit ? kAnySize : kNoSize;
}

bool is_open_queue_group_limit(const Opening& o) {
    return o.queue->max_group_run < 0;
}

}  // namespace

extern const Filter kQueueGroupLimitFilter;
const Filter kQueueGroupLimitFilter{.name = "queue_group_limit",
                                    .traits = by_limits_only | about_entities,
                                    .check = check_queue_group_limit,
                                    .is_open = is_open_queue_group_limit,
                                    .leaves = leaves_queue_group_limit};

}  // namespace pbs::sched
