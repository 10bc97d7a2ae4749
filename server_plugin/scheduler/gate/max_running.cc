// max_running of the queue.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState&, const Candidate&, QueueView& view) {
    const auto limit = view.queue->max_running;
    if (limit < 0 || view.running < limit) return {};
    return {Because::queue_full, view.slot, 0, limit};
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    return left_by_views(state, key, [](const QueueView& view) -> std::optional<JobSize> {
        const auto limit = view.queue->max_running;
        if (limit < 0) return std::nullopt;
        return view.running < limit ? any_size : no_size;
    });
}

bool is_open(const CycleState&, const QueueView& view) {
    return view.queue->max_running < 0;
}

}  // namespace

extern const Gate max_running_gate;
const Gate max_running_gate{"max_running", "",      waits_for_jobs, always,  check,
                            by_queue_use,  nullptr, is_open,        nullptr, leaves};

}  // namespace pbs::sched
