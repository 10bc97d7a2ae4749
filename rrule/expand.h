// From a rule to its occurrences. Internal to rrule/.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rrule/recurrence.h"
#include "rrule/rule_text.h"

namespace pbs::rrule {

// The occurrences of one rule without COUNT and UNTIL, which are limits on them (recurrence.cc).
//
// MONTHLY and YEARLY rules are expanded by libical 3; HOURLY, DAILY and WEEKLY rules here, as each of their
// days can be judged by itself, 200 times as fast. What is worked round in libical 3.0.16:
// - It ends in 2582: dates are moved by whole cycles of 400 years, after which the Gregorian calendar repeats
// with
//   the same weekdays.
// - It walks from DTSTART on, and to 2582 when nothing occurs: it's started at the period that is asked for,
// with the
//   parts that DTSTART implies written out, and whether a rule occurs at all is decided here.
// - YEARLY;BYMONTHDAY without BYMONTH takes one month only: the months are written out.
// - BYWEEKNO at the ends of years and BYSETPOS give wrong days: such rules are expanded here, by definition.
class RuleExpander {
  public:
    // `anchor` is DTSTART, or what stands for it; occurrences before it count only if `since_ever`.
    RuleExpander(const text::Rule& rule, Local anchor, bool since_ever);
    ~RuleExpander();
    RuleExpander(RuleExpander&&) noexcept;

    // Appends the occurrences in [from, to), ascending, without duplicates.
    void expand(Local from, Local to, std::vector<Local>& out) const;

    // The first `count` occurrences in [from, end), fewer when there are no more. Looks in growing steps and
    // without libical, so that a rule that never occurs is found out in milliseconds.
    std::vector<Local> first(std::size_t count, Local from, Local end) const;

    // Days after which the pattern repeats (Recurrence::period_days).
    std::int64_t period_days() const;

  private:
    struct Impl;
    std::unique_ptr<const Impl> impl_;
};

}  // namespace pbs::rrule
