// Finds the days of a year that the BY parts of a rule select. Internal to rrule/.
#pragma once

#include <vector>

#include "rrule/rule_text.h"
#include "rrule/year_days.h"

namespace pbs::rrule {

// Finds the days of a year that BYMONTH, BYMONTHDAY, BYYEARDAY and BYDAY select (RFC 5545 3.3.10).
class DayFilter {
  public:
    explicit DayFilter(const text::Rule& rule);

    YearDays year(const Year& year) const;

  private:
    // Adds the days of [from, to) whose number is in `numbers`: 1 is the first of these days, -1 the last.
    static void mark(const std::vector<int>& numbers, int from, int to, YearDays& days);
    void mark_weekdays(const Year& year, int from, int to, YearDays& days) const;

    std::vector<int> month_, month_day_, year_day_;
    std::vector<text::WeekdayNum> week_day_;
    bool number_in_year_ = false;
};

// Finds the days that BYWEEKNO selects: whole weeks by their number (RFC 5545 3.3.10: week 1 is the first
// with at least four days in the year).
class WeekFilter {
  public:
    explicit WeekFilter(const text::Rule& rule);
    // The first day of week 1 of a year.
    std::int64_t first_day(int year) const;
    // The year to whose weeks a day belongs.
    int year_of(std::int64_t day) const;
    // The days of the year's selected weeks, counted from first_day().
    YearDays days(int year) const;

  private:
    int week_start_;
    std::vector<int> weeks_;
};

}  // namespace pbs::rrule
