// max_user_run of the queue.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_queue_user_limit(const OwnerUse& owner, const Opening& o) {
    const auto limit = o.queue->max_user_run;
    if (limit < 0 || owner.running_in_queue() < limit) return {};
    return Refusal::for_less_of({ReasonCode::queue_user_limit, o.slot, 0, limit},
                                {UseKey::Kind::queue_user, o.slot, owner.id()});
}

std::optional<JobSize> leaves_queue_user_limit(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::queue_user) return std::nullopt;
    const auto limit = (*state.queues)[key.object].max_user_run;
    if (limit < 0) return std::nullopt;
    return state.counts->of_user(key.object, key.of) < limit ? kAnySize : kNoSize;
}

bool is_open_queue_user_limit(const Opening& o) {
    return o.queue->max_user_run < 0;
}

}  // namespace

extern const Filter kQueueUserLimitFilter;
const Filter kQueueUserLimitFilter{.name = "queue_user_limit",
                                   .traits = by_limits_only | about_entities,
                                   .check = check_queue_user_limit,
                                   .is_open = is_open_queue_user_limit,
                                   .leaves = leaves_queue_user_limit};

}  // namespace pbs::sched
