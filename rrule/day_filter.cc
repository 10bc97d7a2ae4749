#include "rrule/day_filter.h"

#include <algorithm>

namespace pbs::rrule {
namespace {

template <class T, class Less = std::less<T>>
std::vector<T> unique(std::vector<T> values, Less less = {}) {
    std::sort(values.begin(), values.end(), less);
    const auto same = [&](const T& a, const T& b) { return !less(a, b) && !less(b, a); };
    values.erase(std::unique(values.begin(), values.end(), same), values.end());
    return values;
}

}  // namespace

DayFilter::DayFilter(const text::Rule& rule)
    : month_(unique(rule.by_month)),
      month_day_(unique(rule.by_month_day)),
      year_day_(unique(rule.by_year_day)),
      week_day_(unique(rule.by_day,
                       [](const text::WeekdayNum& a, const text::WeekdayNum& b) {
                           return std::pair(a.ordinal, a.weekday) < std::pair(b.ordinal, b.weekday);
                       })),
      number_in_year_(rule.freq == text::Freq::yearly && rule.by_month.empty()) {}

void DayFilter::mark(const std::vector<int>& numbers, int from, int to, YearDays& days) {
    for (const int n : numbers) {
        const int day = n > 0 ? from + n - 1 : to + n;
        if (day >= from && day < to) days.set(day);
    }
}

// Adds the days of [from, to) that an element of BYDAY selects: 2MO the second Monday, -1MO the last, MO
// each.
void DayFilter::mark_weekdays(const Year& year, int from, int to, YearDays& days) const {
    for (const text::WeekdayNum& d : week_day_) {
        const int first = from + (static_cast<int>(d.weekday) - weekday_of(year.first + from) + 7) % 7;
        const int last = first + (to - 1 - first) / 7 * 7;
        if (d.ordinal == 0) {
            for (int day = first; day < to; day += 7) days.set(day);
            continue;
        }
        const int day = d.ordinal > 0 ? first + (d.ordinal - 1) * 7 : last + (d.ordinal + 1) * 7;
        if (day >= from && day < to) days.set(day);
    }
}

YearDays DayFilter::year(const Year& year) const {
    YearDays days = year.all();
    const auto keep = [&](bool asked, const auto& mark_some) {
        if (!asked) return;
        YearDays some;
        mark_some(some);
        days &= some;
    };
    const auto each_month = [&](const auto& mark_month) {
        for (int month = 0; month < 12; ++month)
            mark_month(year.before_month(month), year.before_month(month + 1));
    };
    keep(!month_.empty(), [&](YearDays& some) {
        for (const int m : month_) some |= YearDays::range(year.before_month(m - 1), year.before_month(m));
    });
    keep(!month_day_.empty(),
         [&](YearDays& some) { each_month([&](int from, int to) { mark(month_day_, from, to, some); }); });
    keep(!year_day_.empty(), [&](YearDays& some) { mark(year_day_, 0, year.length, some); });
    keep(!week_day_.empty(), [&](YearDays& some) {
        if (number_in_year_) {
            mark_weekdays(year, 0, year.length, some);
        } else {
            each_month([&](int from, int to) { mark_weekdays(year, from, to, some); });
        }
    });
    return days;
}

WeekFilter::WeekFilter(const text::Rule& rule)
    : week_start_(static_cast<int>(rule.week_start)), weeks_(unique(rule.by_week_no)) {}

std::int64_t WeekFilter::first_day(int year) const {
    const std::int64_t fourth = Year::begin_of(year) + 3;
    return fourth - (weekday_of(fourth) + 7 - week_start_) % 7;
}

int WeekFilter::year_of(std::int64_t day) const {
    const int year = Year::of(day);
    return day < first_day(year) ? year - 1 : day < first_day(year + 1) ? year : year + 1;
}

YearDays WeekFilter::days(int year) const {
    const auto count = static_cast<int>((first_day(year + 1) - first_day(year)) / 7);
    YearDays days;
    for (const int n : weeks_) {
        const int week = n > 0 ? n - 1 : count + n;
        if (week >= 0 && week < count) days |= YearDays::range(week * 7, week * 7 + 7);
    }
    return days;
}

}  // namespace pbs::rrule
