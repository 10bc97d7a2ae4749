// resources_available of the queue: what running jobs of the queue leave of it.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const auto& available = view.queue->resources_available;
    for (std::size_t i = 0; i < available.size(); ++i) {
        if (!state.resources->consumable(available[i].resource)) continue;
        const auto asked = number_of(job.request->totals, available[i].resource);
        if (asked && view.in_use[i] + *asked > available[i].number)
            return {Because::queue_resource_busy,         view.slot,          available[i].resource, *asked,
                    available[i].number - view.in_use[i], available[i].number};
    }
    return {};
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    return left_by_views(state, key, [&](const QueueView& view) {
        return left_of(view.queue->resources_available, view.in_use, *state.resources);
    });
}

bool is_open(const CycleState&, const QueueView& view) {
    return view.queue->resources_available.empty();
}

}  // namespace

extern const Gate queue_resources_gate;
const Gate queue_resources_gate{
    "queue_resources", "",    waits_for_jobs | about_room, always, check, by_queue_use, nullptr, is_open,
    nullptr,           leaves};

}  // namespace pbs::sched
