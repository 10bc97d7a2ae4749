// NONPRIME_DRAIN_SYS: in prime time no normal job starts that runs past the start of non-prime time, unless
// the queue is busy across the boundary anyway. (sched-config guide, "System Draining")

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant now) {
    return origin_only(s, now) && s.enforce_prime_time.holds(now) && s.nonprime_drain_sys.holds(now);
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    if (!state.prime_now || view.early || job.exempt()) return {};
    const auto boundary = state.prime->boundary();
    if (!boundary || state.ends(job) <= *boundary || view.empties > *boundary) return {};
    return {Because::nonprime_drain, view.slot, 0, boundary->time_since_epoch().count()};
}

// What starts may let the queue be busy across the boundary.
Blockers blockers(const CycleState& state, const Candidate&, const QueueView&, const Reason& reason) {
    const Instant boundary{Seconds(reason.a)};
    state.instants->insert(boundary);
    return blocker::start | blocker::time(boundary);
}

}  // namespace

extern const Gate nonprime_drain_gate;
const Gate nonprime_drain_gate{"nonprime_drain",
                               "enforce_prime_time, nonprime_drain_sys",
                               about_prime | lifted_by_start,
                               wanted,
                               check,
                               blockers,
                               nullptr,
                               nullptr,
                               named_instant};

}  // namespace pbs::sched
