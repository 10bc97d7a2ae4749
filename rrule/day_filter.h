// Which days the BY parts of a rule leave, each day judged by itself. Internal to rrule/.
#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <vector>

#include "rrule/rule_text.h"

namespace pbs::rrule {

// Days are counted from 1970-01-01.
inline std::int64_t day_number(LocalDay d) {
    return d.time_since_epoch().count();
}
inline LocalDay day_at(std::int64_t number) {
    return LocalDay{std::chrono::days{number}};
}
// 0 is Sunday; day 0 was a Thursday. Days may be negative.
inline unsigned weekday_of(std::int64_t number) {
    return static_cast<unsigned>((number % 7 + 11) % 7);
}

// BYMONTH, BYMONTHDAY, BYYEARDAY and BYDAY (RFC 5545 3.3.10).
class DayFilter {
  public:
    explicit DayFilter(const text::Rule& rule);

    bool pass(std::int64_t day) const;
    // The first day on or after `day` whose month is in BYMONTH; `day` itself without BYMONTH.
    std::int64_t month_from(std::int64_t day) const;

  private:
    using Ymd = std::chrono::year_month_day;
    bool month_day(const Ymd& ymd) const;
    bool year_day(std::int64_t day, std::chrono::year year) const;
    bool numbered(std::int64_t day, unsigned weekday, const Ymd& ymd) const;

    std::bitset<13> month_;
    std::bitset<7> weekday_, every_weekday_;
    std::vector<text::WeekdayNum> numbered_;
    std::bitset<32> month_day_, month_day_from_end_;
    std::bitset<367> year_day_, year_day_from_end_;
    bool by_month_day_ = false;
    bool by_year_day_ = false;
    bool number_in_year_ = false;
    bool by_date_ = false;
};

// BYWEEKNO: whole weeks by their number (RFC 5545 3.3.10: week 1 is the first with at least four days in the
// year).
class WeekFilter {
  public:
    explicit WeekFilter(const text::Rule& rule);
    // The first day of week 1 of a year.
    std::int64_t first_day(std::int64_t year) const;
    // Whether a day from first_day(year) to the last before first_day(year + 1) is in one of the weeks.
    bool pass(std::int64_t day, std::int64_t first, std::int64_t end) const;

  private:
    unsigned week_start_;
    std::bitset<54> week_, week_from_end_;
};

}  // namespace pbs::rrule
