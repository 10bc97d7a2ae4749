#include "rrule/libical_days.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libical/ical.h>

#include <algorithm>
#include <string>

#include "rrule/ical_date.h"

namespace pbs::rrule {
namespace {

using text::Freq;
using text::Rule;
using Days = std::chrono::days;

constexpr std::int64_t kCycleDays = 146097;       // 400 years
constexpr LocalDay kLibicalBegin{Days{-134774}};  // 1601-01-01

std::string numbers_part(const char* name, const std::vector<int>& list) {
    return list.empty() ? std::string() : fmt::format(";{}={}", name, fmt::join(list, ","));
}

std::string to_text(const Rule& rule) {
    std::string out =
        fmt::format("FREQ={};INTERVAL={}", rule.freq == Freq::monthly ? "MONTHLY" : "YEARLY", rule.interval);
    out += numbers_part("BYMONTHDAY", rule.by_month_day) + numbers_part("BYYEARDAY", rule.by_year_day) +
           numbers_part("BYMONTH", rule.by_month);
    std::string by_day;
    for (const auto& d : rule.by_day)
        by_day += fmt::format("{}{}{}", by_day.empty() ? "" : ",",
                              d.ordinal != 0 ? std::to_string(d.ordinal) : "", text::weekday_name(d.weekday));
    if (!by_day.empty()) out += ";BYDAY=" + by_day;
    return out + fmt::format(";WKST={}", text::weekday_name(rule.week_start));
}

// Whether a day up to `most` from the begin or the end of every month or year is among the numbers.
bool in_every_period(const std::vector<int>& list, int most) {
    return std::any_of(list.begin(), list.end(), [&](int n) { return std::abs(n) <= most; });
}

// Rules with one kind of days and at least one day in every period, without what libical gets wrong.
bool serves(const Rule& rule) {
    const bool monthly = rule.freq == Freq::monthly;
    if ((!monthly && rule.freq != Freq::yearly) || !rule.by_set_pos.empty() || !rule.by_week_no.empty())
        return false;
    if (monthly && !rule.by_month.empty() && rule.interval != 1) return false;
    const int kinds = (rule.by_day.empty() ? 0 : 1) + (rule.by_month_day.empty() ? 0 : 1) +
                      (rule.by_year_day.empty() ? 0 : 1);
    if (kinds != 1) return false;
    if (!rule.by_year_day.empty()) return rule.by_month.empty() && in_every_period(rule.by_year_day, 365);
    if (!rule.by_month_day.empty()) return in_every_period(rule.by_month_day, 28);
    const int most = monthly || !rule.by_month.empty() ? 4 : 52;
    return std::any_of(rule.by_day.begin(), rule.by_day.end(),
                       [&](const text::WeekdayNum& d) { return std::abs(d.ordinal) <= most; });
}

}  // namespace

struct LibicalDays::Impl {
    icalrecurrencetype recur;
};

std::optional<LibicalDays> LibicalDays::of(const Rule& rule) {
    if (!serves(rule)) return std::nullopt;
    const icalrecurrencetype recur = icalrecurrencetype_from_string(to_text(rule).c_str());
    if (recur.freq == ICAL_NO_RECURRENCE) return std::nullopt;
    return LibicalDays(std::make_shared<const Impl>(Impl{recur}));
}

std::size_t LibicalDays::days(LocalDay begin, LocalDay to, std::vector<LocalDay>& out) const {
    const auto since = (begin - kLibicalBegin).count();
    const Days shift{(since / kCycleDays - (since % kCycleDays < 0 ? 1 : 0)) * kCycleDays};
    icalrecur_iterator* iterator = icalrecur_iterator_new(impl_->recur, ical_midnight(begin - shift));
    if (iterator == nullptr) return 0;
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    std::size_t given = 0;
    for (icaltimetype t = icalrecur_iterator_next(iterator); icaltime_is_null_time(t) == 0;
         t = icalrecur_iterator_next(iterator)) {
        ++given;
        const LocalDay day = day_of(t) + shift;
        if (day >= to) break;
        if (day >= begin) out.push_back(day);
    }
    icalrecur_iterator_free(iterator);
    if (!std::is_sorted(out.begin() + first, out.end())) std::sort(out.begin() + first, out.end());
    out.erase(std::unique(out.begin() + first, out.end()), out.end());
    return given;
}

}  // namespace pbs::rrule
