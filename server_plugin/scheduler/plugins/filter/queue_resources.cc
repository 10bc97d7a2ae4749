// resources_available of the queue: a job starts if the queue's running jobs leave enough of them.

#include "server_plugin/scheduler/plugins/filter/amounts.h"

namespace pbs::sched {
namespace {

Refusal check_queue_resources(CycleState& state, const Asked& job, QueueView& view) {
    const auto& available = view.queue->resources_available;
    for (std::size_t i = 0; i < available.size(); ++i) {
        const std::uint32_t resource = available[i].resource;
        if (state.is_left_aside(resource)) continue;
        const bool given_back = state.resources->consumable(resource);
        const Reason reason = lack_of(state, *job.request, available[i], given_back ? view.in_use[i] : 0,
                                      {ReasonCode::queue_resource_busy, view.slot, resource});
        if (!reason) continue;
        return given_back ? Refusal::for_less_of(reason, {UseKey::Kind::queue, view.slot, 0})
                          : Refusal::for_good(reason);
    }
    return {};
}

std::optional<JobSize> leaves_queue_resources(const CycleState& state, const UseKey& key) {
    return left_by_views(state, key, [&](const QueueView& view) {
        return left_of(view.queue->resources_available, view.in_use, *state.resources);
    });
}

bool is_open_queue_resources(const Opening& o) {
    return o.queue->resources_available.empty();
}

}  // namespace

extern const Filter kQueueResourcesFilter;
const Filter kQueueResourcesFilter{.name = "queue_resources",
                                   .attributes = "exclude_resources",
                                   .traits = about_room | by_limits_only,
                                   .check = check_queue_resources,
                                   .is_open = is_open_queue_resources,
                                   .leaves = leaves_queue_resources};

}  // namespace pbs::sched
