// job_sort_key fairshare_perc: the part of the machine that the job's entity has by its shares.

#include "server_plugin/scheduler/framework/shares.h"
#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_fairshare_perc(const OrderContext& context, const OrderedJob& job, std::uint32_t) {
    if (context.shares == nullptr) return 0;
    return ordered_bits(context.shares->tree.share(context.shares->entity(*context.tables, job.job)));
}

}  // namespace

extern const Comparator kFairsharePercOrder;
const Comparator kFairsharePercOrder{"fairshare_perc", "job_sort_key", 64, number_fairshare_perc,
                                     Shown::score};

}  // namespace pbs::sched
