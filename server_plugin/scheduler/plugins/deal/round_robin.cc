// round_robin: the first job of each queue has its turn, then the second of each, and so on: queues of the
// highest priority first, as in OpenPBS; or all queues together (torque-pbs_sched-analysis, "Round-Robin").

#include "server_plugin/scheduler/plugins/deal/queue_turn.h"

namespace pbs::sched {

extern const Deal kRoundRobinDeal;
const Deal kRoundRobinDeal{
    .name = "round_robin",
    .wanted = [](const Settings& s, Instant) { return s.round_robin; },
    .spares_overdue = true,
    .begin = round_robin_begin,
    .rank = [](const DealContext& c, const DealtLane& lane) { return c.queue_rank[lane.queue]; },
    .charge = [](const Settings&, const JobTable&, const OrderedJob&) -> std::int64_t { return 1; },
};

}  // namespace pbs::sched
