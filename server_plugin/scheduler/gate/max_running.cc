// max_running of the queue.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState&, const Candidate&, QueueView& view) {
    const auto limit = view.queue->max_running;
    if (limit < 0 || view.running < limit) return {};
    return {Because::queue_full, view.slot, 0, limit};
}

bool is_open(const CycleState&, const QueueView& view) {
    return view.queue->max_running < 0;
}

}  // namespace

extern const Gate max_running_gate;
const Gate max_running_gate{"max_running", "", waits_for_jobs, always, check, nullptr, is_open};

}  // namespace pbs::sched
