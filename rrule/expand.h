// From a rule to its days and occurrences. Internal to rrule/.
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

// The occurrences of one rule without COUNT and UNTIL, which are limits on them (recurrence.cc).
//
// The days of a year are bits (YearDays). What the BY parts say of them, BYSETPOS included, depends on the
// kind of the year, of which there are 28: it is worked out once for each. INTERVAL then takes whole years or
// months, or days of a cycle (DayCycle). So a year costs some operations on six words, however many
// occurrences it has. Times of day are the same for all days, but for MINUTELY, HOURLY and BYSETPOS.
//
// libical, which reads and writes calendars here, is not used for rules: tests/rrule/libical_test.cc lists
// what it gets wrong.
class RuleExpander {
  public:
    // `anchor` is DTSTART, or what stands for it; occurrences before it count only if `since_ever`.
    RuleExpander(const text::Rule& rule, Local anchor, bool since_ever);
    ~RuleExpander();
    RuleExpander(RuleExpander&&) noexcept;

    // The days of a year with at least one occurrence.
    YearDays year(const Year& year) const;
    // The days of all years of each kind together, and maybe more.
    std::array<YearDays, Year::kKinds> ever() const;
    // The weekdays that BYDAY leaves, 0 being Sunday.
    std::bitset<7> weekdays() const;
    // What INTERVAL leaves of the days, whatever the year; null if it isn't counted in days.
    const DayCycle* cycle() const;

    // Gives the first `count` occurrences in [from, to), ascending, to `seen`, which ends that by false.
    void each(std::size_t count, Local from, Local to, const std::function<bool(Local)>& seen) const;

    // Days after which the pattern repeats (Recurrence::period_days).
    std::int64_t period_days() const;

    // How many years have been looked at and occurrences given so far.
    std::uint64_t steps() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The first day on which a rule without DTSTART occurs.
inline constexpr LocalDay kFirstDay{std::chrono::days{-135140}};  // 1600-01-01

}  // namespace pbs::rrule
