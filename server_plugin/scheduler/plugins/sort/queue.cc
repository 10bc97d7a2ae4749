// by_queue: the jobs of the queue with the highest priority first.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_queue(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return c.queue_rank[c.jobs.queue[job.job]];
}

}  // namespace

extern const Comparator kQueueOrder;
const Comparator kQueueOrder{"queue", "by_queue", 32, number_queue, Shown::queue};

}  // namespace pbs::sched
