#include "rrule/day_filter.h"

#include <algorithm>

namespace pbs::rrule {

DayFilter::DayFilter(const text::Rule& rule) {
    for (const int m : rule.by_month) month_.set(static_cast<std::size_t>(m));
    for (const int d : rule.by_month_day)
        (d > 0 ? month_day_ : month_day_from_end_).set(static_cast<std::size_t>(std::abs(d)));
    for (const int d : rule.by_year_day)
        (d > 0 ? year_day_ : year_day_from_end_).set(static_cast<std::size_t>(std::abs(d)));
    for (const auto& d : rule.by_day) {
        weekday_.set(d.weekday);
        if (d.ordinal == 0) {
            every_weekday_.set(d.weekday);
        } else {
            numbered_.push_back(d);
        }
    }
    by_month_day_ = !rule.by_month_day.empty();
    by_year_day_ = !rule.by_year_day.empty();
    number_in_year_ = rule.freq == text::Freq::yearly && rule.by_month.empty();
    by_date_ = by_month_day_ || by_year_day_ || month_.any() || !numbered_.empty();
}

bool DayFilter::pass(std::int64_t day) const {
    const unsigned weekday = weekday_of(day);
    if (weekday_.any() && !weekday_.test(weekday)) return false;
    if (!by_date_) return true;
    const Ymd ymd{day_at(day)};
    if (month_.any() && !month_.test(static_cast<unsigned>(ymd.month()))) return false;
    return (!by_month_day_ || month_day(ymd)) && (!by_year_day_ || year_day(day, ymd.year())) &&
           (numbered_.empty() || every_weekday_.test(weekday) || numbered(day, weekday, ymd));
}

std::int64_t DayFilter::month_from(std::int64_t day) const {
    if (month_.none()) return day;
    const Ymd ymd{day_at(day)};
    std::chrono::year_month month = ymd.year() / ymd.month();
    if (month_.test(static_cast<unsigned>(month.month()))) return day;
    while (!month_.test(static_cast<unsigned>(month.month()))) month += std::chrono::months{1};
    return day_number(LocalDay{month / 1});
}

bool DayFilter::month_day(const Ymd& ymd) const {
    const auto d = static_cast<unsigned>(ymd.day());
    if (month_day_.test(d)) return true;
    if (month_day_from_end_.none()) return false;
    const auto last = static_cast<unsigned>((ymd.year() / ymd.month() / std::chrono::last).day());
    return month_day_from_end_.test(last - d + 1);
}

bool DayFilter::year_day(std::int64_t day, std::chrono::year year) const {
    const auto d = static_cast<std::size_t>(day - day_number(LocalDay{year / 1 / 1}) + 1);
    const std::size_t length = year.is_leap() ? 366 : 365;
    return year_day_.test(d) || year_day_from_end_.test(length - d + 1);
}

// 2MO is the second Monday of the month, or of the year for YEARLY without BYMONTH; -1MO the last.
bool DayFilter::numbered(std::int64_t day, unsigned weekday, const Ymd& ymd) const {
    const auto year = ymd.year();
    const LocalDay first = number_in_year_ ? LocalDay{year / 1 / 1} : LocalDay{year / ymd.month() / 1};
    const LocalDay last =
        number_in_year_ ? LocalDay{year / 12 / 31} : LocalDay{year / ymd.month() / std::chrono::last};
    const auto from_begin = (day - day_number(first)) / 7 + 1;
    const auto from_end = -((day_number(last) - day) / 7 + 1);
    return std::any_of(numbered_.begin(), numbered_.end(), [&](const text::WeekdayNum& d) {
        return d.weekday == weekday && (d.ordinal == from_begin || d.ordinal == from_end);
    });
}

WeekFilter::WeekFilter(const text::Rule& rule) : week_start_(rule.week_start) {
    for (const int w : rule.by_week_no)
        (w > 0 ? week_ : week_from_end_).set(static_cast<std::size_t>(std::abs(w)));
}

std::int64_t WeekFilter::first_day(std::int64_t year) const {
    const auto fourth = day_number(LocalDay{std::chrono::year{static_cast<int>(year)} / 1 / 4});
    return fourth - (weekday_of(fourth) + 7 - week_start_) % 7;
}

bool WeekFilter::pass(std::int64_t day, std::int64_t first, std::int64_t end) const {
    const auto n = static_cast<std::size_t>((day - first) / 7 + 1);
    const auto weeks = static_cast<std::size_t>((end - first) / 7);
    return week_.test(n) || week_from_end_.test(weeks - n + 1);
}

}  // namespace pbs::rrule
