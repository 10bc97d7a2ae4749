// The nodes of the queue (Queues::node_limit()): a job starts if the running jobs of the queue leave enough.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_queue_nodes(CycleState&, const Asked& job, QueueView& view) {
    if (view.node_limit < 0 || view.nodes + job.nodes <= view.node_limit) return {};
    return Refusal::for_less_of(
        {ReasonCode::queue_nodes_busy, view.slot, 0, job.nodes, view.node_limit - view.nodes},
        {UseKey::Kind::queue, view.slot, 0});
}

std::optional<JobSize> leaves_queue_nodes(const CycleState& state, const UseKey& key) {
    return left_by_views(state, key, [](const QueueView& view) -> std::optional<JobSize> {
        if (view.node_limit < 0) return std::nullopt;
        return JobSize{narrow(view.node_limit - view.nodes), kNoLimit, kNoLimit, kNoLimit};
    });
}

bool is_open_queue_nodes(const Opening& o) {
    return o.node_limit < 0;
}

}  // namespace

extern const Filter kQueueNodesFilter;
const Filter kQueueNodesFilter{.name = "queue_nodes",
                               .attributes = "ssinode_cpus, ssinode_mem",
                               .traits = by_limits_only,
                               .check = check_queue_nodes,
                               .is_open = is_open_queue_nodes,
                               .leaves = leaves_queue_nodes};

}  // namespace pbs::sched
