// The nodes (ssinodes) of the queue that running jobs leave.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState&, const Candidate& job, QueueView& view) {
    if (view.node_limit < 0 || view.nodes + job.nodes <= view.node_limit) return {};
    return {Because::queue_nodes_busy, view.slot, 0, job.nodes, view.node_limit - view.nodes};
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    return left_by_views(state, key, [](const QueueView& view) -> std::optional<JobSize> {
        if (view.node_limit < 0) return std::nullopt;
        return JobSize{narrow(view.node_limit - view.nodes), no_limit, no_limit, no_limit};
    });
}

bool is_open(const CycleState&, const QueueView& view) {
    return view.node_limit < 0;
}

}  // namespace

extern const Gate queue_nodes_gate;
const Gate queue_nodes_gate{"queue_nodes",  "ssinode_cpus, ssinode_mem",
                            waits_for_jobs, origin_only,
                            check,          by_queue_use,
                            nullptr,        is_open,
                            nullptr,        leaves};

}  // namespace pbs::sched
