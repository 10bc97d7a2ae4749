// The deals of the profiles. A lane is a sorted list of pending jobs of one queue, user, entity or the like.

#include "server_plugin/scheduler/pending/deal.h"

#include <algorithm>

#include "server_plugin/scheduler/pending/past_usage_deal.h"

namespace pbs::sched {
namespace {

// Returns the number of a lane's first turn, for deals that take jobs from queues in turn: a lower number for
// a queue of higher priority, so that queues of one priority take turns before those of the next; 0 for all
// queues with round_robin_all. The step of 2^32 between two priorities is more rounds than a lane has jobs.
std::int64_t round_robin_begin(const DealContext& c, const DealtLane& lane) {
    if (c.settings.round_robin_all) return 0;
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    return -std::clamp<std::int64_t>(c.queues[lane.queue].priority, -kMost, kMost) * (std::int64_t{1} << 32);
}

}  // namespace

// by_queue: all jobs of a queue have their turns, then those of the next one, in the order of the queues'
// priorities.
extern const Deal kByQueueDeal{
    .name = "by_queue",
    .wanted = [](const Settings& s, Instant) { return s.by_queue; },
    .begin = [](const DealContext& c, const DealtLane& lane) -> std::int64_t {
        return c.queue_rank[lane.queue];
    },
};

// fairshare: the next turn is that of a job of the entity that has used the least of its share, group by
// group along the tree; within a queue, if by_queue or round_robin take precedence. A started job's expected
// usage counts at once. (PP-748, interfaces 1 and 4)
extern const Deal kFairShareDeal{
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

// SORT_BY_PAST_USAGE: the next job is always one of the user with the least usage. Each job in this order
// adds to its user's usage, as if it had run. (sched-config guide, "Increasing Fairness In Resource Usage")
extern const Deal kPastUsageDeal{
    .name = "past_usage",
    .wanted = [](const Settings& s, Instant now) { return s.sort_by_past_usage.holds(now); },
    .of_users = true,
    .begin = [](const DealContext& c, const DealtLane&) { return c.usage; },
    .charge =
        [](const Settings& s, const JobTable& jobs, const OrderedJob& job) {
            return charge_units(s.past_usage_charge, job.nodes, jobs.expected_walltime(job.job));
        },
    .in_circle = true,
};

// round_robin: the first job of each queue has its turn, then the second of each, and so on: queues of the
// highest priority first, as in OpenPBS; or all queues together (torque-pbs_sched-analysis, "Round-Robin").
extern const Deal kRoundRobinDeal{
    .name = "round_robin",
    .wanted = [](const Settings& s, Instant) { return s.round_robin; },
    .spares_overdue = true,
    .begin = round_robin_begin,
    .rank = [](const DealContext& c, const DealtLane& lane) { return c.queue_rank[lane.queue]; },
    .charge = [](const Settings&, const JobTable&, const OrderedJob&) -> std::int64_t { return 1; },
};

}  // namespace pbs::sched
