// Overdue jobs on different sides of SMALL_QUEUED_TIME: the one with the longer walltime first, which is
// the one that is not below it. (origin-overview, "Waiting Job Support")

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_small_queued(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return c.jobs.expected_walltime(job.job) < c.settings.small_queued_time ? 1 : 0;
}

}  // namespace

extern const Comparator kSmallQueuedOrder;
const Comparator kSmallQueuedOrder{"small_queued", "small_queued_time", 1, number_small_queued,
                                   Shown::yes_if_0};

}  // namespace pbs::sched
