#include "server_plugin/scheduler/pending/round_robin.h"

#include <algorithm>
#include <tuple>

namespace pbs::sched {

void round_robin(const OrderContext& context, std::span<OrderedJob> sorted) {
    const auto first = std::ranges::find_if(
        sorted, [](const OrderedJob& job) { return job.job_class != JobClass::overdue; });
    struct Turn {
        std::int64_t level;  // the lower ones first
        std::uint32_t round;
        std::uint32_t rank;
        OrderedJob job;
    };
    std::vector<Turn> turns;
    std::vector<std::uint32_t> seen(context.queues.size(), 0);
    for (auto job = first; job != sorted.end(); ++job) {
        const QueueSlot queue = context.jobs.queue[job->job];
        const std::int64_t level = context.settings.round_robin_all ? 0 : -context.queues[queue].priority;
        turns.push_back({level, seen[queue]++, context.queue_rank[queue], *job});
    }
    std::ranges::stable_sort(turns, {},
                             [](const Turn& turn) { return std::tuple(turn.level, turn.round, turn.rank); });
    std::ranges::transform(turns, first, &Turn::job);
}

}  // namespace pbs::sched
