// fairshare: the next turn is that of a job of the entity that has used the least of its share, group by
// group along the tree; within a queue, if by_queue or round_robin take precedence. A started job's expected
// usage counts at once. (PP-748, interfaces 1 and 4)

#include "server_plugin/scheduler/plugins/deal/queue_turn.h"

namespace pbs::sched {

extern const Deal kFairShareDeal;
const Deal kFairShareDeal{
    .name = "fair_share",
    .wanted = [](const Settings& s, Instant) { return s.fairshare; },
    .begin = [](const DealContext& c, const DealtLane& lane) -> std::int64_t {
        if (c.settings.round_robin) return round_robin_begin(c, lane);
        return c.settings.by_queue ? c.queue_rank[lane.queue] : 0;
    },
    .rank = [](const DealContext& c, const DealtLane& lane) -> std::uint32_t {
        return c.settings.round_robin ? c.queue_rank[lane.queue] : 0;
    },
    .by_shares = true,
};

}  // namespace pbs::sched
