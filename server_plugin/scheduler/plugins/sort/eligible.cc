// The job that is eligible longer first.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_eligible(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return static_cast<std::uint64_t>(c.jobs.eligible[job.job].time_since_epoch().count());
}

}  // namespace

extern const Comparator kEligibleOrder;
const Comparator kEligibleOrder{"eligible", "", 40, number_eligible, Shown::instant};

}  // namespace pbs::sched
