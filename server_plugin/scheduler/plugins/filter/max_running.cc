// max_running of the queue.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_max_running(CycleState&, const Asked&, QueueView& view) {
    const auto limit = view.queue->max_running;
    if (limit < 0 || view.running < limit) return {};
    return Refusal::for_less_of({ReasonCode::queue_full, view.slot, 0, limit},
                                {UseKey::Kind::queue, view.slot, 0});
}

std::optional<JobSize> leaves_max_running(const CycleState& state, const UseKey& key) {
    return left_by_views(state, key, [](const QueueView& view) -> std::optional<JobSize> {
        const auto limit = view.queue->max_running;
        if (limit < 0) return std::nullopt;
        return view.running < limit ? kAnySize : kNoSize;
    });
}

bool is_open_max_running(const Opening& o) {
    return o.queue->max_running < 0;
}

}  // namespace

extern const Filter kMaxRunningFilter;
const Filter kMaxRunningFilter{.name = "max_running",
                               .traits = by_limits_only,
                               .check = check_max_running,
                               .is_open = is_open_max_running,
                               .leaves = leaves_max_running};

}  // namespace pbs::sched
