// A queue that is drained for a waiting job starts others only if they end before that job can start, or if
// what it leaves of the queue at that time is enough for them.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    if (view.drained_for == no_slot || view.drained_for == job.job) return {};
    if (state.ends(job) <= view.drain_until) return {};
    if (view.spare_jobs >= 1 && job.nodes <= view.spare_nodes) return {};
    return {Because::queue_drained, view.slot, view.drained_for};
}

}  // namespace

extern const Gate drained_queue_gate;
const Gate drained_queue_gate{"drained_queue", "max_queued_time, interactive_long_wait", 0, origin_only,
                              check};

}  // namespace pbs::sched
