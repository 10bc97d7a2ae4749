// job_sort_key with job_priority: the lower priority first (HIGH reverses it).

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_job_priority(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return static_cast<std::uint32_t>(c.jobs.priority[job.job]) ^ 1U << 31;
}

}  // namespace

extern const Comparator kJobPriorityOrder;
const Comparator kJobPriorityOrder{"job_priority", "job_sort_key", 32, number_job_priority, Shown::priority};

}  // namespace pbs::sched
