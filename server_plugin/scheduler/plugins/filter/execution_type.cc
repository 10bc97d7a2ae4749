// execution_type of the queue: jobs start only in prime time, or only outside of it (PP-748, interface 6).
// The filter dedicated_time handles dedicated queues.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_execution_type(CycleState& state, const JobNeeds&, QueueView& view) {
    return execution_type_refusal(state, view.slot);
}

bool is_open_execution_type(const QueueFacts& o) {
    return o.queue->execution_type != ExecutionType::prime &&
           o.queue->execution_type != ExecutionType::non_prime;
}

}  // namespace

Refusal execution_type_refusal(const CycleState& state, QueueSlot queue) {
    const ExecutionType type = (*state.queues)[queue].execution_type;
    if (type != ExecutionType::prime && type != ExecutionType::non_prime) return {};
    const bool prime = state.prime->now_inside();
    if (type == ExecutionType::prime && !prime)
        return Refusal::until_named(
            {ReasonCode::prime_only, queue, 0, kept_instant(state.prime->next_start(state.now))});
    if (type == ExecutionType::non_prime && prime)
        return Refusal::until_named(
            {ReasonCode::non_prime_only, queue, 0, kept_instant(state.prime->boundary())});
    return {};
}

extern const Filter kExecutionTypeFilter{.name = "execution_type",
                                         .traits = about_time | by_limits_only,
                                         .check = check_execution_type,
                                         .is_open = is_open_execution_type};

}  // namespace pbs::sched
