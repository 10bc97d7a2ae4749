// backfill_prime: no job is started that runs further than time_window_spill past the next boundary between
// prime and non-prime time, or past the end of its queue's time_window. With prime_exempt_anytime_queues,
// jobs of queues without windows are free of it. (PP-748; pbs_sched's backfill_prime and prime_spill)

#include <algorithm>

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant) {
    return s.algorithm == Algorithm::standard && s.backfill_prime;
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const Settings& s = *state.settings;
    if (s.prime_exempt_anytime_queues && !view.has_windows) return {};
    std::optional<Instant> boundary = state.prime_change;
    if (view.has_windows && view.closes) boundary = std::min(boundary.value_or(*view.closes), *view.closes);
    if (!boundary || state.ends(job) <= *boundary + s.time_window_spill) return {};
    return {Because::prime_boundary, view.slot, 0, boundary->time_since_epoch().count()};
}

}  // namespace

extern const Gate prime_boundary_gate;
const Gate prime_boundary_gate{"prime_boundary", "backfill_prime", 0, wanted, check};

}  // namespace pbs::sched
