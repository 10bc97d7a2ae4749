// backfill_prime: no job is started that runs further than time_window_spill past the next boundary between
// prime and non-prime time, or past the end of its queue's time_window. With prime_exempt_anytime_queues,
// jobs of queues that are open at any time are free of it: queues without windows, of no prime or non-prime
// execution_type. (PP-748; pbs_sched's backfill_prime and prime_spill)

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant) {
    return s.algorithm == Algorithm::standard && s.backfill_prime;
}

bool is_anytime(const QueueView& view) {
    const ExecutionType type = view.queue->execution_type;
    return !view.has_windows && type != ExecutionType::prime && type != ExecutionType::non_prime;
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const Settings& s = *state.settings;
    if (s.prime_exempt_anytime_queues && is_anytime(view)) return {};
    std::optional<Instant> boundary = state.prime_change;
    const bool closes_first = view.has_windows && view.closes && (!boundary || *view.closes < *boundary);
    if (closes_first) boundary = view.closes;
    if (!boundary || state.ends(job) <= *boundary + s.time_window_spill) return {};
    const std::int64_t at = boundary->time_since_epoch().count();
    if (closes_first) return {Because::window_boundary, view.slot, 0, at};
    return {Because::prime_boundary, view.slot, 0, at, state.prime->now_inside() ? 0 : 1};
}

}  // namespace

extern const Gate prime_boundary_gate;
const Gate prime_boundary_gate{"prime_boundary", "backfill_prime", 0,       wanted,       check,
                               nullptr,          nullptr,          nullptr, named_instant};

}  // namespace pbs::sched
