// Describes how a union of windows repeats. Internal to rrule/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rrule/window.h"
#include "rrule/year_days.h"

namespace pbs::rrule {

// From this day on, the offsets of zones follow rules: tzdata lists single changes up to 2087
// (Africa/Casablanca).
inline constexpr LocalDay kRegularZones{std::chrono::days{47482}};  // 2100-01-01
// The range for which unions of windows are computed: from 1601 to the end of 9999, in UTC.
inline constexpr Instant kBegin{std::chrono::days{-134774}};
inline constexpr Instant kEnd{std::chrono::days{2932897}};

// An opening begins at most this long before or after midnight UTC of its start day, since zones have
// offsets. It lasts at most a day of wall clock, and the clock may skip a day meanwhile (Samoa, 2011).
inline constexpr std::chrono::days kReach{4};

inline LocalDay day_near(Instant t) {
    return LocalDay{std::chrono::floor<std::chrono::days>(t).time_since_epoch()};
}

// The least common multiple, or kCalendarDays if that is less.
std::int64_t common_period(std::int64_t a, std::int64_t b);

class OpeningDays;

// An interval of the wall clock's readings.
struct ClockInterval {
    Local start;
    Local end;
    friend bool operator==(const ClockInterval&, const ClockInterval&) = default;
};

// Appends the openings of a window that start on these days, ascending. An opening within a skipped hour is
// left out.
void open_on(const Window& window, std::span<const LocalDay> days, std::vector<Interval>& out);

// A union of windows. Some of them may not open on non-work days, and others only on these.
//
// A change of the clock moves windows: an instant is inside the union of windows of one zone when the highest
// reading of the wall clock up to that instant is inside. So a union that is always open on the wall clock,
// or never, is so in time as well; only a change of the union can fall into a gap of the clock.
class Pattern {
  public:
    Pattern(std::span<const Window> windows, const NonWorkDays& holidays);

    // Returns whether all windows are in the same zone.
    bool one_zone() const { return one_zone_; }
    // The day from which the union repeats on the wall clock every `period` days.
    LocalDay regular_from() const { return regular_from_; }
    std::int64_t period() const { return period_; }

    // The union within [from, to), as intervals of the wall clock: ascending, disjoint, not touching.
    std::vector<ClockInterval> on_the_clock(LocalDay from, LocalDay to) const;
    // The union as intervals of instants. `known` (or null) is a table that may have the days of a single
    // window.
    std::vector<Interval> in_time(Instant from, Instant to, const OpeningDays* known = nullptr) const;

    // Returns an instant up to which a search has to look: if the union doesn't open or close from `t` to
    // that instant, it never does after `t`.
    Instant quiet_until(Instant t) const;

    // The instant from which the union is always open, as far as windows show it that are in one zone and
    // whose days repeat within a year: to look at other windows would take long. nullopt: no such windows
    // keep the union always open.
    std::optional<Instant> always_open_from() const;

  private:
    std::optional<Instant> always_open_from(const Zone& zone) const;

    std::span<const Window> windows_;
    const NonWorkDays& holidays_;
    bool one_zone_ = true;
    LocalDay regular_from_ = LocalDay::min();
    std::int64_t period_ = 1;
};

}  // namespace pbs::rrule
