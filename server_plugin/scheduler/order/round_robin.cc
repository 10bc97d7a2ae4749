#include "server_plugin/scheduler/order/round_robin.h"

#include <algorithm>

namespace pbs::sched {

void round_robin(const OrderContext& context, std::span<OrderedJob> sorted) {
    const auto first = std::ranges::find_if(
        sorted, [](const OrderedJob& job) { return job.job_class != JobClass::waiting; });
    struct Turn {
        std::uint32_t round;
        std::uint32_t rank;
        OrderedJob job;
    };
    std::vector<Turn> turns;
    std::vector<std::uint32_t> seen(context.queues.size(), 0);
    for (auto job = first; job != sorted.end(); ++job) {
        const QueueSlot queue = context.jobs.queue[job->job];
        turns.push_back({seen[queue]++, context.queue_rank[queue], *job});
    }
    std::ranges::stable_sort(turns, [](const Turn& a, const Turn& b) {
        return a.round != b.round ? a.round < b.round : a.rank < b.rank;
    });
    std::ranges::transform(turns, first, &Turn::job);
}

}  // namespace pbs::sched
