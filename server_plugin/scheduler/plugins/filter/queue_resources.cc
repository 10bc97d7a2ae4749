// resources_available of the queue: a job starts if the queue's running jobs leave enough of them.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check(CycleState& state, const Asked& job, QueueView& view) {
    const auto& available = view.queue->resources_available;
    for (std::size_t i = 0; i < available.size(); ++i) {
        if (!state.resources->consumable(available[i].resource)) continue;
        const auto asked = number_of(job.request->totals, available[i].resource);
        if (asked && view.in_use[i] + *asked > available[i].number)
            return Refusal::for_less_of({ReasonCode::queue_resource_busy, view.slot, available[i].resource,
                                         *asked, available[i].number - view.in_use[i], available[i].number},
                                        {UseKey::Kind::queue, view.slot, 0});
    }
    return {};
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    return left_by_views(state, key, [&](const QueueView& view) {
        return left_of(view.queue->resources_available, view.in_use, *state.resources);
    });
}

bool is_open(const Opening& o) {
    return o.queue->resources_available.empty();
}

}  // namespace

extern const Filter kQueueResourcesFilter;
const Filter kQueueResourcesFilter{.name = "queue_resources",
                                   .traits = about_room | by_limits_only,
                                   .check = check,
                                   .is_open = is_open,
                                   .leaves = leaves};

}  // namespace pbs::sched
