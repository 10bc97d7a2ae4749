// Days of MONTHLY and YEARLY rules as libical gives them. Internal to rrule/.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "rrule/rule_text.h"

namespace pbs::rrule {

// The days of one rule, where libical 3 is right. What is worked round in libical 3.0.16, each found by
// comparison with an expansion by definition (tests/rrule/libical_test.cc lists the cases, and what is wrong
// with rules that are never given to libical; oracle_test.cc compares all rules):
// - YEARLY;BYMONTHDAY without BYMONTH takes one month only: the caller writes the months out.
// - BYWEEKNO at the ends of years and BYSETPOS give wrong days: not given to libical.
// - It ends in 2582: dates are moved by whole cycles of 400 years, after which the Gregorian calendar repeats
//   with the same weekdays.
// - It walks from DTSTART on, and to 2582 when nothing occurs: it's started at the period that is asked for,
//   and only for rules with at least one day in each period, so that the walk is short.
class LibicalDays {
  public:
    // Empty unless libical is right for the rule, and short. The rule has all that DTSTART implies written
    // out.
    static std::optional<LibicalDays> of(const text::Rule& rule);

    // Appends the days in [begin, to), ascending. `begin` is the first day of a month or year of the rule; at
    // most 400 years. Returns how many dates libical gave.
    std::size_t days(LocalDay begin, LocalDay to, std::vector<LocalDay>& out) const;

  private:
    struct Impl;
    explicit LibicalDays(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

}  // namespace pbs::rrule
