// The running job that ends sooner first.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_run_end(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return static_cast<std::uint64_t>(c.jobs.end(job.job).time_since_epoch().count());
}

}  // namespace

extern const Comparator kRunEndOrder;
const Comparator kRunEndOrder{"run_end", "", 40, number_run_end, Shown::instant};

}  // namespace pbs::sched
