// The shorter walltime first; jobs that ask for none last.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_walltime(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return static_cast<std::uint64_t>(c.jobs.expected_walltime(job.job).count());
}

}  // namespace

extern const Comparator kWalltimeOrder;
const Comparator kWalltimeOrder{"walltime", "", 40, number_walltime, Shown::duration};

}  // namespace pbs::sched
