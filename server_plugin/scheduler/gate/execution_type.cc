// execution_type of the queue: prime time or the rest of the time only (PP-748, interface 6). Dedicated
// queues are for dedicated_time.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

std::int64_t seconds(std::optional<Instant> t) {
    return t ? t->time_since_epoch().count() : 0;
}

Reason check(CycleState& state, const Candidate&, QueueView& view) {
    return execution_type_reason(state, view.slot);
}

bool is_open(const CycleState&, const QueueView& view) {
    const ExecutionType type = view.queue->execution_type;
    return type != ExecutionType::prime && type != ExecutionType::non_prime;
}

}  // namespace

Reason execution_type_reason(const CycleState& state, QueueSlot queue) {
    const ExecutionType type = (*state.queues)[queue].execution_type;
    const bool prime = state.prime->now_inside();
    if (type == ExecutionType::prime && !prime)
        return {Because::prime_only, queue, 0, seconds(state.prime->next_start(state.now))};
    if (type == ExecutionType::non_prime && prime)
        return {Because::non_prime_only, queue, 0, seconds(state.prime->boundary())};
    return {};
}

extern const Gate execution_type_gate;
const Gate execution_type_gate{"execution_type", "",      0,       always,       check,
                               nullptr,          nullptr, is_open, named_instant};

}  // namespace pbs::sched
