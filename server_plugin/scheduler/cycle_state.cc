#include "server_plugin/scheduler/cycle_state.h"

#include <algorithm>

namespace pbs::sched {

PrimePeriods::PrimePeriods(const rrule::WindowSet& prime, Instant now)
    : prime_(prime), now_(now), known_until_(now), inside_(prime.contains(now)) {
    if (inside_) boundary_ = prime.next_change(now);
}

void PrimePeriods::look_ahead(Instant until) {
    if (until <= known_until_) return;
    // At least a week at a time, and then twice as far, so that repeated questions stay cheap.
    known_until_ = std::max({until, now_ + std::chrono::days(8), now_ + 2 * (known_until_ - now_)});
    periods_ = prime_.intervals(now_, known_until_);
    longest_.clear();
    Seconds longest{0};
    for (const rrule::Interval& period : periods_) {
        longest = std::max(longest, period.end - period.start);
        longest_.push_back(longest);
    }
}

Seconds PrimePeriods::most_in_one(Seconds walltime) {
    const Instant end = now_ + std::min(walltime, unlimited_walltime);
    look_ahead(end);
    // Periods that end by then count whole; at most one more is cut off.
    const auto cut = std::ranges::upper_bound(periods_, end, {}, &rrule::Interval::end);
    const auto whole = static_cast<std::size_t>(cut - periods_.begin());
    Seconds most = whole == 0 ? Seconds(0) : longest_[whole - 1];
    if (cut != periods_.end() && cut->start < end) most = std::max<Seconds>(most, end - cut->start);
    return most;
}

std::optional<Instant> PrimePeriods::end_of_one_above(Seconds limit, Seconds walltime) {
    if (most_in_one(walltime) <= limit) return std::nullopt;
    const Instant end = now_ + std::min(walltime, unlimited_walltime);
    for (const rrule::Interval& period : periods_)
        if (std::min(period.end, end) - period.start > limit) return period.end;
    return std::nullopt;
}

std::optional<Instant> PrimePeriods::next_start(Instant t) const {
    auto next = prime_.at_or_after(t);
    if (next && next->start <= t) next = prime_.at_or_after(next->end);
    if (!next) return std::nullopt;
    return next->start;
}

void RunCounts::count(std::uint32_t queue, std::uint32_t owner, std::uint32_t group, int sign) {
    counts_[key(1, queue, owner)] += sign;
    counts_[key(2, queue, group)] += sign;
    counts_[key(1, everywhere, owner)] += sign;
    counts_[key(2, everywhere, group)] += sign;
}

PlaceRules CycleState::place_rules(const Candidate& job) const {
    PlaceRules rules;
    rules.host = jobs->run_host[job.job];  // the queue's own is in its pool
    if (settings->algorithm == Algorithm::origin) {
        rules.node_size = node_size;
        rules.max_jobs_on_host = settings->max_jobs;
        rules.max_load_percent = settings->max_load_percent;
        rules.min_jobs_on_host = settings->min_jobs;
        rules.max_systime_percent = settings->high_systime;
    }
    rules.ends = ends(job);
    return rules;
}

}  // namespace pbs::sched
