// started of the queue.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState&, const Candidate&, QueueView& view) {
    if (view.queue->started && view.queue->execution) return {};
    return {Because::queue_not_started, view.slot};
}

bool is_open(const CycleState&, const QueueView& view) {
    return view.queue->started && view.queue->execution;
}

}  // namespace

extern const Gate queue_started_gate;
const Gate queue_started_gate{"queue_started", "", 0, always, check, by_configuration, nullptr, is_open};

}  // namespace pbs::sched
