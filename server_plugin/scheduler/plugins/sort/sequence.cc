// The job with the smaller number in its id first: the last tie-break.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_sequence(const OrderContext& c, const OrderedJob& job, std::uint32_t) {
    return c.jobs.sequence[job.job];
}

}  // namespace

extern const Comparator kSequenceOrder;
const Comparator kSequenceOrder{"sequence", "", 64, number_sequence};

}  // namespace pbs::sched
