// Computes how much jobs ask for, and what vnodes have, in the columns of JobSize (pending_jobs.h).
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

namespace pbs::sched {

inline std::int32_t narrow(std::int64_t amount) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(amount, -1, kNoLimit));
}
// Rounds down. Sizes and limits are rounded alike, so a size within a limit is within it after rounding, too.
inline std::int32_t megabytes(std::int64_t bytes) {
    return narrow(bytes >> 20);
}
// Where a manager gave out an amount twice, a negative amount is free. Jobs that ask for none of it still
// have room.
inline std::int64_t free_at_least(std::int64_t amount) {
    return std::max<std::int64_t>(0, amount);
}

// The least amounts that a chunk of a request asks for.
struct LeastNeeds {
    std::int32_t ncpus = 0;
    std::int32_t mem = 0;  // MB
};
LeastNeeds least_needs(const Request& request, const Resources& resources);

// Returns the size of a pending job with such a request. A `walltime` below 0: the job asks for none.
inline JobSize job_size(const OrderedJob& job, Seconds walltime, const LeastNeeds& needs) {
    return {narrow(job.nodes), narrow(std::max<std::int64_t>(0, walltime.count())), needs.ncpus, needs.mem};
}

// Does a request fit every open vnode (where chunks are divided, every host) that has the CPUs and the memory
// of its size?
bool is_told_by_size(const Request& request, const Resources& resources);

// Returns the CPUs and the memory that are left of these amounts, of which `in_use` is in use.
JobSize left_of(std::span<const KeptAmount> available, std::span<const std::int64_t> in_use,
                const Resources& resources);

}  // namespace pbs::sched
