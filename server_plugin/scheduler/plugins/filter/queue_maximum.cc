// Tests whether a queue admits a job of this size: by the queue's resources_max and resources_min, its number
// of nodes, and reserved_resources that it has.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

// A suspended job has passed this test already, with all of its walltime.
Refusal check_queue_maximum(CycleState& state, const JobNeeds& job, QueueView& view) {
    if (job.suspended != kNoSlot) return {};
    const auto walltime = state.resources->known().walltime;
    const auto asked = [&](const KeptAmount& limit) -> std::optional<std::int64_t> {
        if (limit.resource == walltime)
            return job.asked < Seconds(0) ? std::nullopt : std::optional(job.asked.count());
        return number_of(job.request->totals, limit.resource);
    };
    const auto refuse = [&](ReasonCode code, std::uint32_t resource, std::int64_t wants, std::int64_t limit) {
        return Refusal::for_good({code, view.slot, resource, wants, limit});
    };
    for (const KeptAmount& limit : view.queue->resources_max)
        if (const auto amount = asked(limit); amount && limit.text.empty() && *amount > limit.number)
            return refuse(ReasonCode::above_queue_maximum, limit.resource, *amount, limit.number);
    for (const KeptAmount& limit : view.queue->resources_min)
        if (const auto amount = asked(limit); amount && limit.text.empty() && *amount < limit.number)
            return refuse(ReasonCode::below_queue_minimum, limit.resource, *amount, limit.number);
    if (view.node_limit >= 0 && job.nodes > view.node_limit)
        return refuse(ReasonCode::above_queue_nodes, 0, job.nodes, view.node_limit);
    const std::uint32_t reserved =
        is_reserved(view.queue->resources_available, state.reserved_resources, *job.request);
    if (reserved != kNoResource) return Refusal::for_good({ReasonCode::queue_reserved, view.slot, reserved});
    return {};
}

bool is_open_queue_maximum(const QueueFacts& o) {
    return o.queue->resources_max.empty() && o.queue->resources_min.empty() && o.node_limit < 0 &&
           (o.settings->reserved_resources.empty() || o.queue->resources_available.empty());
}

}  // namespace

extern const Filter kQueueMaximumFilter{.name = "queue_maximum",
                                        .traits = by_limits_only,
                                        .check = check_queue_maximum,
                                        .is_open = is_open_queue_maximum};

}  // namespace pbs::sched
