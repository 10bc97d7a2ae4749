// resources_max and resources_min of the queue, and its own size: the nodes that it has.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const auto walltime = state.resources->known().walltime;
    const auto asked = [&](const KeptAmount& limit) -> std::optional<std::int64_t> {
        if (limit.resource == walltime)
            return job.asked < Seconds(0) ? std::nullopt : std::optional(job.asked.count());
        return number_of(job.request->totals, limit.resource);
    };
    for (const KeptAmount& limit : view.queue->resources_max)
        if (const auto amount = asked(limit); amount && limit.text.empty() && *amount > limit.number)
            return {Because::above_queue_maximum, view.slot, limit.resource, *amount, limit.number};
    for (const KeptAmount& limit : view.queue->resources_min)
        if (const auto amount = asked(limit); amount && limit.text.empty() && *amount < limit.number)
            return {Because::below_queue_minimum, view.slot, limit.resource, *amount, limit.number};
    if (view.node_limit >= 0 && job.nodes > view.node_limit)
        return {Because::above_queue_nodes, view.slot, 0, job.nodes, view.node_limit};
    return {};
}

bool is_open(const CycleState&, const QueueView& view) {
    return view.queue->resources_max.empty() && view.queue->resources_min.empty() && view.node_limit < 0;
}

}  // namespace

extern const Gate queue_maximum_gate;
const Gate queue_maximum_gate{"queue_maximum",  "",      tells_fit, always, check,
                              by_configuration, nullptr, is_open};

}  // namespace pbs::sched
