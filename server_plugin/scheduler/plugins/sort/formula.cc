// job_sort_formula: the job with the larger value first.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_formula(const OrderContext&, const OrderedJob& job, std::uint32_t) {
    return ~ordered_bits(job.score);
}

}  // namespace

extern const Comparator kFormulaOrder;
const Comparator kFormulaOrder{"formula", "job_sort_formula", 64, number_formula, Shown::score};

}  // namespace pbs::sched
