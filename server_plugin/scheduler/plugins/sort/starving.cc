// Starving jobs, which wait longer than max_starve, before all others.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_starving(const OrderContext&, const OrderedJob& job, std::uint32_t) {
    return job.job_class == JobClass::overdue ? 0 : 1;
}

}  // namespace

extern const Comparator kStarvingOrder;
const Comparator kStarvingOrder{"starving", "help_starving_jobs, max_starve", 1, number_starving,
                                Shown::yes_if_0};

}  // namespace pbs::sched
