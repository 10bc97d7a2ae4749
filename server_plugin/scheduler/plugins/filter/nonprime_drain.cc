// NONPRIME_DRAIN_SYS: in prime time no normal job starts that runs past the start of non-prime time, unless
// the queue is busy beyond that boundary anyway. (sched-config guide, "System Draining")

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_nonprime_drain(const Settings& s, Instant now) {
    return s.enforce_prime_time.holds(now) && s.nonprime_drain_sys.holds(now);
}

// A start may lift the refusal, because the started job may keep the queue busy beyond the boundary.
Refusal check_nonprime_drain(CycleState& state, const JobNeeds& job, QueueView& view) {
    if (!state.prime_now || view.early || job.exempt()) return {};
    const auto boundary = state.prime->boundary();
    if (!boundary || state.ends(job) <= *boundary || view.empties > *boundary) return {};
    return {{ReasonCode::nonprime_drain, view.slot, 0, kept_instant(boundary), 0, job.without_walltime()},
            blocker::kStart,
            *boundary};
}

}  // namespace

extern const Filter kNonprimeDrainFilter{.name = "nonprime_drain",
                                         .attributes = "enforce_prime_time, nonprime_drain_sys",
                                         .traits = about_time | about_prime | about_last_end,
                                         .check = check_nonprime_drain,
                                         .wanted = wanted_nonprime_drain};

}  // namespace pbs::sched
