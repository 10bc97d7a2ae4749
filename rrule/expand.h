// Finds the days and the occurrences of a rule. Internal to rrule/.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>

#include "rrule/day_cycle.h"
#include "rrule/recurrence.h"
#include "rrule/rule_text.h"

namespace pbs::rrule {

// The occurrences of one rule without COUNT and UNTIL, which recurrence.cc applies as limits.
//
// The days of a year are bits (YearDays). The days that the BY parts select, BYSETPOS included, depend on the
// kind of the year, of which there are 28: they are computed once for each kind. INTERVAL then selects whole
// years or months, or days of a cycle (DayCycle). So a year costs some operations on six words, however many
// occurrences it has. Times of day are the same for all days, except with MINUTELY, HOURLY and BYSETPOS.
//
// libical, which reads and writes calendars here, is not used for rules: tests/rrule/libical_test.cc lists
// what it gets wrong.
class RuleExpander {
  public:
    // `anchor` is DTSTART, or the date used in its place; occurrences before it count only if `since_ever`.
    RuleExpander(const text::Rule& rule, Local anchor, bool since_ever);
    ~RuleExpander();
    RuleExpander(RuleExpander&&) noexcept;

    // The days of a year with at least one occurrence.
    YearDays year(const Year& year) const;
    // For each kind of year: the days on which any year of this kind has an occurrence. There may be further
    // days among them.
    std::array<YearDays, Year::kKinds> ever() const;
    // The weekdays that BYDAY selects, 0 being Sunday.
    std::bitset<7> weekdays() const;
    // The days that INTERVAL selects, whatever the year; null if INTERVAL isn't counted in days.
    const DayCycle* cycle() const;

    // Calls `seen` with the first `count` occurrences in [from, to), ascending, until it returns false.
    void each(std::size_t count, Local from, Local to, const std::function<bool(Local)>& seen) const;

    // Days after which the pattern repeats (Recurrence::period_days).
    std::int64_t period_days() const;

    // The number of years looked at and of occurrences given so far.
    std::uint64_t steps() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The earliest day for which occurrences of a rule without DTSTART are given.
inline constexpr LocalDay kFirstDay{std::chrono::days{-135140}};  // 1600-01-01

}  // namespace pbs::rrule
