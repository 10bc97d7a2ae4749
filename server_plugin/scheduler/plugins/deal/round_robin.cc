// round_robin: the first job of each queue, then the second of each, and so on: queues of the highest
// priority first, as OpenPBS deals; or all queues together (torque-pbs_sched-analysis, "Round-Robin").

#include <algorithm>

#include "server_plugin/scheduler/pending/deal.h"

namespace pbs::sched {
namespace {

// Queues of one priority, and after them the next: more rounds than a lane has jobs lie between them.
std::int64_t begin(const DealContext& c, const DealtLane& lane) {
    if (c.settings.round_robin_all) return 0;
    constexpr std::int64_t most = std::int64_t{1} << 30;
    return -std::clamp<std::int64_t>(c.queues[lane.queue].priority, -most, most) * (std::int64_t{1} << 32);
}

}  // namespace

extern const Deal round_robin_deal;
const Deal round_robin_deal{
    .name = "round_robin",
    .wanted = [](const Settings& s, Instant) { return s.round_robin; },
    .spares_overdue = true,
    .begin = begin,
    .rank = [](const DealContext& c, const DealtLane& lane) { return c.queue_rank[lane.queue]; },
    .charge = [](const Settings&, const JobTable&, const OrderedJob&) -> std::int64_t { return 1; },
};

}  // namespace pbs::sched
