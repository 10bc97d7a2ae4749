// From a rule to its days and occurrences. Internal to rrule/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rrule/recurrence.h"
#include "rrule/rule_text.h"

namespace pbs::rrule {

// The occurrences of one rule without COUNT and UNTIL, which are limits on them (recurrence.cc).
//
// The days of MONTHLY and YEARLY rules come from libical where it is right (libical_days.h says where);
// HOURLY, DAILY and WEEKLY rules, and the rest, are expanded here by definition: each period's days judged
// one by one, and their times of day, which are the same for all days, chosen by BYSETPOS. Sets of days and
// times are never written out: work is by the number of days, whatever BYHOUR, BYMINUTE and BYSECOND say.
class RuleExpander {
  public:
    // A day with occurrences, at each of `hours` plus each of `times`, ascending.
    struct Day {
        LocalDay day;
        std::span<const Seconds> hours;
        std::span<const Seconds> times;
    };
    // Gets one day after the other; false ends the walk.
    using Sink = std::function<bool(const Day&)>;

    // `anchor` is DTSTART, or what stands for it; occurrences before it count only if `since_ever`.
    RuleExpander(const text::Rule& rule, Local anchor, bool since_ever);
    ~RuleExpander();
    RuleExpander(RuleExpander&&) noexcept;

    // Appends the occurrences in [from, to), ascending, without duplicates.
    void expand(Local from, Local to, std::vector<Local>& out) const;
    // Appends the days in [from, to) that have an occurrence, ascending.
    void days(LocalDay from, LocalDay to, std::vector<LocalDay>& out) const;

    // The first `count` occurrences in [from, end), given to `seen` one by one, which may end the search by
    // false. Expanded by definition, not by libical.
    void first(std::size_t count, Local from, Local end, const std::function<bool(Local)>& seen) const;

    // Days after which the pattern repeats (Recurrence::period_days).
    std::int64_t period_days() const;

    // How many days and periods have been looked at and occurrences given so far.
    std::uint64_t steps() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The first day on which a rule without DTSTART occurs.
inline constexpr LocalDay kFirstDay{std::chrono::days{-135140}};  // 1600-01-01

}  // namespace pbs::rrule
