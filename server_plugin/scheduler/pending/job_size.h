// Computes the sizes of jobs and of vnodes' free amounts, in the columns of JobSize (pending_jobs.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/model/resources.h"
#include "server_plugin/scheduler/pending/pending_jobs.h"
#include "server_plugin/scheduler/pending/sort.h"
#include "server_plugin/scheduler/placement/vnodes.h"
#include "values/sum.h"

namespace pbs::sched {

inline std::int32_t narrow(std::int64_t amount) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(amount, -1, kNoLimit));
}
// Rounds down. Sizes and limits are rounded in the same way, so a size within a limit is within it after
// rounding, too.
inline std::int32_t megabytes(std::int64_t bytes) {
    return narrow(bytes >> 20);
}
// Returns the amount, but at least 0. A free amount is negative if a manager has reduced the total below its
// use. Jobs that request nothing of it still fit then.
inline std::int64_t free_at_least(std::int64_t amount) {
    return std::max<std::int64_t>(0, amount);
}

// The least amounts that a chunk of the request needs.
struct LeastNeeds {
    std::int32_t ncpus = 0;
    std::int32_t mem = 0;  // MB
};
LeastNeeds least_needs(const Request& request, const Resources& resources);

// Returns the size of a pending job with such a request. `walltime` below 0: none requested.
inline JobSize job_size(const OrderedJob& job, Seconds walltime, const LeastNeeds& needs) {
    return {narrow(job.nodes), narrow(std::max<std::int64_t>(0, walltime.count())), needs.ncpus, needs.mem};
}

// Returns whether the request fits each open vnode (or, if chunks are divided, each host) that has the CPUs
// and the memory of the request's JobSize.
bool is_told_by_size(const Request& request, const Resources& resources);

// Returns the CPUs and the memory of `available` that aren't `in_use`.
JobSize left_of(std::span<const KeptAmount> available, std::span<const values::Sum> in_use,
                const Resources& resources);

}  // namespace pbs::sched
