// by_queue: all jobs of a queue have their turns, then those of the next one, in the order of the queues'
// priorities.

#include "server_plugin/scheduler/pending/deal.h"

namespace pbs::sched {

extern const Deal kByQueueDeal;
const Deal kByQueueDeal{
    .name = "by_queue",
    .wanted = [](const Settings& s, Instant) { return s.by_queue; },
    .begin = [](const DealContext& c, const DealtLane& lane) -> std::int64_t {
        return c.queue_rank[lane.queue];
    },
};

}  // namespace pbs::sched
