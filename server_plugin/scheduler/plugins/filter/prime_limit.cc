// PRIME_TIME_WALLT_LIMIT: at most this much of a job's walltime may fall into any single period of prime
// time. Small jobs have their own limit. (sched-config guide, "Primetime Configuration")

#include <optional>

#include "server_plugin/scheduler/framework/boundaries.h"
#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool wanted_prime_limit(const Settings& s, Instant now) {
    return s.enforce_prime_time.holds(now) &&
           (s.prime_time_wallt_limit > Seconds(0) || s.prime_time_small_wallt_limit > Seconds(0));
}

// Returns the longest time for which the job may run in prime time; 0: no limit.
Seconds limit_of(const CycleState& state, const JobNeeds& job, const QueueView& view) {
    if (view.early || job.exempt()) return Seconds(0);
    const Settings& s = *state.settings;
    const bool small = s.prime_time_small_node_limit > 0 && job.nodes <= s.prime_time_small_node_limit &&
                       s.prime_time_small_wallt_limit > Seconds(0);
    return small ? s.prime_time_small_wallt_limit : s.prime_time_wallt_limit;
}

// Looks at the first period of prime time in which the job would run for longer than the limit. The refusal
// lasts until the rest of that period is no longer than the limit: a job that starts earlier runs in it for
// too long.
Refusal check_prime_limit(CycleState& state, const JobNeeds& job, QueueView& view) {
    const Seconds limit = limit_of(state, job, view);
    if (limit == Seconds(0)) return {};
    const auto end = state.prime->end_of_one_above(limit, job.walltime);
    if (!end) return {};
    return Refusal::until_instant(
        {ReasonCode::prime_limit, view.slot, 0, limit.count(), 0, job.without_walltime()}, *end - limit);
}

// Returns the first instant after `t` at which the rest of the present prime time is no longer than one of
// the limits.
std::optional<Instant> next_prime_limit(const Tables&, const Settings& s, Instant t) {
    std::optional<Instant> next;
    const auto end = s.end_of_enforced_prime(t);
    if (!end) return next;
    for (const Seconds limit : {s.prime_time_wallt_limit, s.prime_time_small_wallt_limit})
        if (limit > Seconds(0) && *end - limit > t) sooner(next, *end - limit);
    return next;
}

bool is_as_early(const QueueView& a, const QueueView& b) {
    return a.early == b.early;
}

}  // namespace

extern const Filter kPrimeLimitFilter{
    .name = "prime_limit",
    .attributes = "enforce_prime_time, prime_time_wallt_limit, prime_time_small_*",
    .traits = about_time | about_prime | by_limits_only,
    .check = check_prime_limit,
    .wanted = wanted_prime_limit,
    .is_same_in = is_as_early};

extern const BoundaryRule kPrimeLimitBoundaries{"prime_limit", next_prime_limit};

}  // namespace pbs::sched
