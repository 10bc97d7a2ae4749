// backfill_prime: no job starts that would run more than time_window_spill past the next boundary between
// prime and non-prime time, or past the end of its queue's time_window. prime_exempt_anytime_queues exempts
// queues that are always open: without windows, and of no prime or non-prime execution_type. (PP-748;
// pbs_sched's backfill_prime and prime_spill)

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_prime_boundary(const Settings& s, Instant) {
    return s.backfill_prime;
}

bool is_anytime(const QueueView& view) {
    const ExecutionType type = view.queue->execution_type;
    return view.hours == nullptr && type != ExecutionType::prime && type != ExecutionType::non_prime;
}

Refusal check_prime_boundary(CycleState& state, const JobNeeds& job, QueueView& view) {
    const Settings& s = *state.settings;
    if (s.prime_exempt_anytime_queues && is_anytime(view)) return {};
    std::optional<Instant> boundary = state.prime_change;
    // A suspended job of a queue with hours may run past the end of the hours: it is suspended again then.
    const bool stops = job.suspended != kNoSlot && view.queue->hours != nullptr;
    const bool closes_first =
        view.hours != nullptr && !stops && view.closes && (!boundary || *view.closes < *boundary);
    if (closes_first) boundary = view.closes;
    if (!boundary || state.ends(job) <= *boundary + s.time_window_spill) return {};
    const std::int64_t at = kept_instant(boundary);
    if (closes_first)
        return Refusal::until_named(
            {ReasonCode::window_boundary, view.slot, 0, at, 0, job.without_walltime()});
    return Refusal::until_named({ReasonCode::prime_boundary, view.slot, 0, at,
                                 state.prime->now_inside() ? 0 : 1, job.without_walltime()});
}

}  // namespace

extern const Filter kPrimeBoundaryFilter{.name = "prime_boundary",
                                         .attributes = "backfill_prime",
                                         .traits = about_time | by_limits_only,
                                         .check = check_prime_boundary,
                                         .wanted = wanted_prime_boundary};

}  // namespace pbs::sched
