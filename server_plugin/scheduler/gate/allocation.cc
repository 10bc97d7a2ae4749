// ENFORCE_ALLOCATION: jobs of a group that has used up its allocation are rejected. (sched-config guide,
// "Per-Group System Time Allocations Support")

#include <algorithm>
#include <cmath>

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant now) {
    return origin_only(s, now) && s.enforce_allocation.holds(now) && !s.sched_acct_dir.empty();
}

std::int64_t thousandths(double node_hours) {
    return std::llround(std::min(std::abs(node_hours), 1e12) * 1000);
}

// A group that isn't in the file may be a mistake in the file: its jobs wait.
Reason check(const CycleState& state, const Candidate& job) {
    if (state.allocations == nullptr || !state.allocations->known()) return {Because::allocations_unread};
    const auto standing = state.allocations->of(state.strings->text(job.group));
    if (!standing.listed) return {Because::no_allocation, UINT32_MAX, job.group};
    const auto started = state.started_hours.find(job.group);
    const double more = started == state.started_hours.end() ? 0 : started->second;
    if (!standing.over(more)) return {};
    return {Because::over_allocation, UINT32_MAX, job.group, thousandths(standing.used + more),
            thousandths(standing.allocated)};
}

}  // namespace

extern const JobGate allocation_gate;
const JobGate allocation_gate{
    "allocation", "enforce_allocation, sched_acct_dir", wanted, check, reads_group, blocker::configuration};

}  // namespace pbs::sched
