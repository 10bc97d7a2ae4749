// MANAGE_HPM_COUNTERS: a job that asks for the hardware performance counters (-l hpm=1) starts once they are
// in user mode. The last test: when it is the only one that fails, the counters are switched for the job.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_hpm_counters(const Settings& s, Instant now) {
    return s.manage_hpm_counters.holds(now) && !s.hpm_ctl.empty();
}

Refusal check_hpm_counters(CycleState& state, const Asked& job, QueueView& view) {
    // They are switched for the job in time, so that later they keep nobody from starting.
    if (state.looking_ahead) return {};
    if (state.hpm_ready || number_of(job.request->totals, state.hpm_resource).value_or(0) == 0) return {};
    state.hpm_wanted = true;
    return {{ReasonCode::hpm_not_ready, view.slot}, blocker::kCycle};
}

}  // namespace

extern const Filter kHpmCountersFilter;
const Filter kHpmCountersFilter{.name = "hpm_counters",
                                .attributes = "manage_hpm_counters, hpm_ctl",
                                .traits = by_limits_only,
                                .check = check_hpm_counters,
                                .wanted = wanted_hpm_counters};

}  // namespace pbs::sched
