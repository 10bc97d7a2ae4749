// ENFORCE_ALLOCATION: jobs of a group that has used up its allocation are rejected. (sched-config guide,
// "Per-Group System Time Allocations Support")

#include <algorithm>
#include <cmath>

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_allocation(const Settings& s, Instant now) {
    return s.enforce_allocation.holds(now) && !s.sched_acct_dir.empty();
}

std::int64_t thousandths(double node_hours) {
    return std::llround(std::min(std::abs(node_hours), 1e12) * 1000);
}

// A group that isn't in the file may be a mistake in the file: its jobs wait.
Refusal check_allocation(const GroupUse& group) {
    const Allocations* allocations = group.allocations();
    if (allocations == nullptr || !allocations->known())
        return Refusal::for_good({ReasonCode::allocations_unread});
    const auto standing = allocations->of(group.name());
    if (!standing.listed) return Refusal::for_good({ReasonCode::no_allocation, UINT32_MAX, group.id()});
    const double more = group.started_hours();
    if (!standing.over(more)) return {};
    return Refusal::for_good({ReasonCode::over_allocation, UINT32_MAX, group.id(),
                              thousandths(standing.used + more), thousandths(standing.allocated)});
}

}  // namespace

extern const Admission kAllocationAdmission;
const Admission kAllocationAdmission{.name = "allocation",
                                     .attributes = "enforce_allocation, sched_acct_dir",
                                     .check = check_allocation,
                                     .wanted = wanted_allocation};

}  // namespace pbs::sched
