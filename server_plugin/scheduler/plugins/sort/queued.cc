// The job that is longer in its queue first.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_queued(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return static_cast<std::uint64_t>(c.jobs.qtime[job.job].time_since_epoch().count());
}

}  // namespace

extern const Comparator kQueuedOrder;
const Comparator kQueuedOrder{"queued", "", 40, number_queued, Shown::instant};

}  // namespace pbs::sched
