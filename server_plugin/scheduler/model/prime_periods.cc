#include "server_plugin/scheduler/model/prime_periods.h"

#include <algorithm>

#include "server_plugin/scheduler/model/job_table.h"

namespace pbs::sched {

void PrimePeriods::move_to(Instant now) {
    const bool same_side = known_ && now >= now_ && (!next_change_ || now < *next_change_);
    now_ = now;
    if (same_side) return;
    known_ = true;
    inside_ = prime_.contains(now);
    next_change_ = prime_.next_change(now);
    known_until_ = now;
    periods_.clear();
    longest_.clear();
}

void PrimePeriods::look_ahead(Instant until) {
    if (until <= known_until_) return;
    // Compute at least eight days, and each time twice as much as before, so that repeated calls stay cheap.
    known_until_ = std::max({until, now_ + std::chrono::days(8), now_ + 2 * (known_until_ - now_)});
    periods_ = prime_.intervals(now_, known_until_);
    longest_.clear();
    Seconds longest{0};
    for (const rrule::Interval& period : periods_) {
        if (!inside_ || !longest_.empty()) longest = std::max(longest, period.end - period.start);
        longest_.push_back(longest);
    }
}

Seconds PrimePeriods::most_in_one(Seconds walltime) {
    const Instant end = now_ + std::min(walltime, kUnlimitedWalltime);
    look_ahead(end);
    // Periods that end by `end` count completely. At most one more is cut off at `end`.
    const auto cut = std::ranges::upper_bound(periods_, end, {}, &rrule::Interval::end);
    const auto whole = static_cast<std::size_t>(cut - periods_.begin());
    Seconds most = whole == 0 ? Seconds(0) : longest_[whole - 1];
    if (inside_ && whole > 0) most = std::max<Seconds>(most, periods_.front().end - now_);
    if (cut != periods_.end() && cut->start < end)
        most = std::max<Seconds>(most, end - std::max(cut->start, now_));
    return most;
}

std::optional<Instant> PrimePeriods::end_of_one_above(Seconds limit, Seconds walltime) {
    if (most_in_one(walltime) <= limit) return std::nullopt;
    const Instant end = now_ + std::min(walltime, kUnlimitedWalltime);
    for (const rrule::Interval& period : periods_)
        if (std::min(period.end, end) - std::max(period.start, now_) > limit) return period.end;
    return std::nullopt;
}

std::optional<Instant> PrimePeriods::next_start(Instant t) const {
    auto next = prime_.at_or_after(t);
    if (next && next->start <= t) next = prime_.at_or_after(next->end);
    if (!next) return std::nullopt;
    return next->start;
}

}  // namespace pbs::sched
