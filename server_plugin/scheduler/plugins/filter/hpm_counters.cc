// MANAGE_HPM_COUNTERS: a job that asks for the hardware performance counters (-l hpm=1) starts once they are
// in user mode. The last test: when it is the only one that fails, the counters are switched for the job.

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

struct HpmCounterUse {
    bool wanted = false;  // a job starts with the counters, or waits for them and for nothing else
};

bool wanted_hpm_counters(const Settings& s, Instant now) {
    return s.manage_hpm_counters.holds(now) && !s.hpm_ctl.empty();
}

bool uses_hpm_counters(const CycleState& state, const Asked& job) {
    return number_of(job.request->totals, state.resources->known().hpm).value_or(0) != 0;
}

Refusal check_hpm_counters(CycleState& state, const Asked& job, QueueView& view) {
    // They are switched for the job in time, so that later they keep nobody from starting.
    if (state.looking_ahead || state.tables->hpm == HpmCounters::user || !uses_hpm_counters(state, job))
        return {};
    if (!state.only_asked) state.own.of<HpmCounterUse>().wanted = true;
    return {{ReasonCode::hpm_not_ready, view.slot}, blocker::kCycle};
}

void start_with_hpm_counters(CycleState& state, const Candidate& job) {
    if (uses_hpm_counters(state, job)) state.own.of<HpmCounterUse>().wanted = true;
}

void decide_hpm_counters(Outcome& outcome) {
    const auto* use = outcome.cycle().state.own.find<HpmCounterUse>();
    outcome.out().hpm_wanted = use != nullptr && use->wanted;
}

}  // namespace

extern const Filter kHpmCountersFilter;
const Filter kHpmCountersFilter{.name = "hpm_counters",
                                .attributes = "manage_hpm_counters, hpm_ctl",
                                .traits = by_limits_only,
                                .check = check_hpm_counters,
                                .wanted = wanted_hpm_counters,
                                .started = start_with_hpm_counters};

extern const Decide kHpmCountersDecide;
const Decide kHpmCountersDecide{.name = "hpm_counters", .decide = decide_hpm_counters};

}  // namespace pbs::sched
