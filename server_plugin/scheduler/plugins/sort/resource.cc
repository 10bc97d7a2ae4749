// job_sort_key with a resource: the job that asks for less of it first (HIGH reverses it). A job that asks
// for none of it counts as 0.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_resource(const OrderContext& c, const OrderedJob& job, std::uint32_t resource) {
    const auto asked = number_of(c.requests[c.jobs.request[job.job]].totals, resource).value_or(0);
    return static_cast<std::uint64_t>(asked) ^ 1ULL << 63;
}

}  // namespace

extern const Comparator kResourceOrder;
const Comparator kResourceOrder{"resource", "job_sort_key", 64, number_resource, Shown::amount};

}  // namespace pbs::sched
