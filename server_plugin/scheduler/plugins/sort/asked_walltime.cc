// job_sort_key with walltime: the job that asks for less first (HIGH reverses it). A job that asks for none
// counts as 0, as with any other resource.

#include <algorithm>

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_asked_walltime(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return static_cast<std::uint64_t>(std::max(Seconds(0), c.jobs.walltime[job.job]).count());
}

}  // namespace

extern const Comparator kAskedWalltimeOrder;
const Comparator kAskedWalltimeOrder{"asked_walltime", "job_sort_key", 40, number_asked_walltime,
                                     Shown::duration};

}  // namespace pbs::sched
