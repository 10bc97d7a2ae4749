// MANAGE_HPM_COUNTERS: a job that asks for the hardware performance counters (-l hpm=1) starts once they are
// in user mode. The last test: when it is the only one that fails, the counters are switched for the job.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant now) {
    return origin_only(s, now) && s.manage_hpm_counters.holds(now) && !s.hpm_ctl.empty();
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    // They are switched for the job in time, so that later they keep nobody from starting.
    if (state.looking_ahead) return {};
    if (state.hpm_ready || number_of(job.request->totals, state.hpm_resource).value_or(0) == 0) return {};
    state.hpm_wanted = true;
    return {Because::hpm_not_ready, view.slot};
}

}  // namespace

extern const Gate hpm_counters_gate;
const Gate hpm_counters_gate{"hpm_counters", "manage_hpm_counters, hpm_ctl", 0, wanted, check};

}  // namespace pbs::sched
