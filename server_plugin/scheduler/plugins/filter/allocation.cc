// ENFORCE_ALLOCATION: jobs of a group that has used up its allocation are rejected. (sched-config guide,
// "Per-Group System Time Allocations Support")

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/questions.h"

namespace pbs::sched {
namespace {

bool wanted_allocation(const Settings& s, Instant now) {
    return s.enforce_allocation.holds(now) && !s.sched_acct_dir.empty();
}

std::int64_t thousandths(double node_hours) {
    return std::llround(std::min(std::abs(node_hours), 1e12) * 1000);
}

// Node-hours of the jobs that this cycle started, by group.
using StartedHours = std::unordered_map<std::uint32_t, double>;

double started_hours(const OwnStates& own, std::uint32_t group) {
    const auto* started = own.find<StartedHours>();
    if (started == nullptr) return 0;
    const auto of_group = started->find(group);
    return of_group == started->end() ? 0 : of_group->second;
}

void charge_start(CycleState& state, const Candidate& job) {
    if (state.allocations == nullptr) return;
    const auto standing = state.allocations->of(state.strings->text(job.user.group));
    double& hours = state.own.of<StartedHours>()[job.user.group];
    const bool was_over = standing.over(hours);
    hours += node_hours(job.nodes, job.walltime);
    state.admits_less = state.admits_less || (!was_over && standing.over(hours));
}

// Jobs of a group that isn't in the allocations file wait, because that may be a mistake in the file.
Refusal check_allocation(const GroupUse& group) {
    const Allocations* allocations = group.allocations();
    if (allocations == nullptr || !allocations->known())
        return Refusal::for_good({ReasonCode::allocations_unread});
    const auto standing = allocations->of(group.name());
    if (!standing.listed) return Refusal::for_good({ReasonCode::no_allocation, UINT32_MAX, group.id()});
    const double more = started_hours(group.own(), group.id());
    if (!standing.over(more)) return {};
    return Refusal::for_good({ReasonCode::over_allocation, UINT32_MAX, group.id(),
                              thousandths(standing.used + more), thousandths(standing.allocated)});
}

void ask_for_allocations(const Tables&, const Settings& s, Instant now, std::vector<Question>& questions) {
    if (wanted_allocation(s, now)) questions.push_back({.source = s.sched_acct_dir});
}

}  // namespace

extern const Admission kAllocationAdmission{.name = "allocation",
                                            .attributes = "enforce_allocation, sched_acct_dir",
                                            .check = check_allocation,
                                            .wanted = wanted_allocation,
                                            .started = charge_start};

extern const QuestionRule kAllocationQuestions{"allocation", ask_for_allocations};

}  // namespace pbs::sched
