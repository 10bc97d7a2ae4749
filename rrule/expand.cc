#include "rrule/expand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libical/ical.h>

#include <algorithm>
#include <bitset>
#include <numeric>
#include <string>

namespace pbs::rrule {
namespace {

using text::Freq;
using text::Rule;
using Ymd = std::chrono::year_month_day;
using Days = std::chrono::days;

constexpr std::int64_t kCycleDays = 146097;  // 400 years
constexpr std::int64_t kCycleWeeks = kCycleDays / 7;
constexpr std::int64_t kCycleMonths = 4800;
constexpr std::int64_t kCycleYears = 400;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

// The first number >= from that differs from origin by a multiple of step.
std::int64_t align_up(std::int64_t from, std::int64_t origin, std::int64_t step) {
    return origin + -floor_div(-(from - origin), step) * step;
}

LocalDay day_of(Local l) {
    return std::chrono::floor<Days>(l);
}
std::int64_t number(LocalDay d) {
    return d.time_since_epoch().count();
}
LocalDay day_at(std::int64_t n) {
    return LocalDay{Days{n}};
}
unsigned weekday_of(std::int64_t n) {
    return static_cast<unsigned>((n % 7 + 11) % 7);
}  // day 0 is a Thursday

std::int64_t month_number(const Ymd& ymd) {
    return std::int64_t{static_cast<int>(ymd.year())} * 12 + static_cast<unsigned>(ymd.month()) - 1;
}
LocalDay first_of_month(std::int64_t n) {
    const auto year = floor_div(n, 12);
    return LocalDay{std::chrono::year{static_cast<int>(year)} /
                    std::chrono::month{static_cast<unsigned>(n - year * 12 + 1)} / 1};
}

// The days that BYMONTH, BYMONTHDAY, BYYEARDAY and BYDAY leave, each day judged by itself.
class DayFilter {
  public:
    explicit DayFilter(const Rule& rule) {
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
        number_in_year_ = rule.freq == Freq::yearly && rule.by_month.empty();
        by_date_ = by_month_day_ || by_year_day_ || month_.any() || !numbered_.empty();
    }

    bool pass(std::int64_t day) const {
        const unsigned weekday = weekday_of(day);
        if (weekday_.any() && !weekday_.test(weekday)) return false;
        if (!by_date_) return true;
        const Ymd ymd{day_at(day)};
        if (month_.any() && !month_.test(static_cast<unsigned>(ymd.month()))) return false;
        return (!by_month_day_ || month_day(ymd)) && (!by_year_day_ || year_day(day, ymd.year())) &&
               (numbered_.empty() || every_weekday_.test(weekday) || numbered(day, weekday, ymd));
    }

  private:
    bool month_day(const Ymd& ymd) const {
        const auto last = static_cast<unsigned>((ymd.year() / ymd.month() / std::chrono::last).day());
        const auto d = static_cast<unsigned>(ymd.day());
        return month_day_.test(d) || month_day_from_end_.test(last - d + 1);
    }
    bool year_day(std::int64_t day, std::chrono::year year) const {
        const auto d = static_cast<std::size_t>(day - number(LocalDay{year / 1 / 1}) + 1);
        const std::size_t length = year.is_leap() ? 366 : 365;
        return year_day_.test(d) || year_day_from_end_.test(length - d + 1);
    }
    // 2MO is the second Monday of the month, or of the year for YEARLY without BYMONTH; -1MO the last.
    bool numbered(std::int64_t day, unsigned weekday, const Ymd& ymd) const {
        const auto year = ymd.year();
        const LocalDay first = number_in_year_ ? LocalDay{year / 1 / 1} : LocalDay{year / ymd.month() / 1};
        const LocalDay last =
            number_in_year_ ? LocalDay{year / 12 / 31} : LocalDay{year / ymd.month() / std::chrono::last};
        const auto from_begin = (day - number(first)) / 7 + 1;
        const auto from_end = -((number(last) - day) / 7 + 1);
        return std::any_of(numbered_.begin(), numbered_.end(), [&](const text::WeekdayNum& d) {
            return d.weekday == weekday && (d.ordinal == from_begin || d.ordinal == from_end);
        });
    }

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

// Whole weeks by their number (RFC 5545 3.3.10: week 1 is the first with at least four days in the year).
class WeekFilter {
  public:
    explicit WeekFilter(const Rule& rule) : week_start_(rule.week_start) {
        for (const int w : rule.by_week_no)
            (w > 0 ? week_ : week_from_end_).set(static_cast<std::size_t>(std::abs(w)));
    }
    // The first day of week 1 of a year.
    std::int64_t first_day(std::int64_t year) const {
        const auto fourth = number(LocalDay{std::chrono::year{static_cast<int>(year)} / 1 / 4});
        return fourth - (weekday_of(fourth) + 7 - week_start_) % 7;
    }
    // Whether a day from first_day(year) to the last before first_day(year + 1) is in one of the weeks.
    bool pass(std::int64_t day, std::int64_t first, std::int64_t end) const {
        const auto n = static_cast<std::size_t>((day - first) / 7 + 1);
        const auto weeks = static_cast<std::size_t>((end - first) / 7);
        return week_.test(n) || week_from_end_.test(weeks - n + 1);
    }

  private:
    unsigned week_start_;
    std::bitset<54> week_, week_from_end_;
};

// BYSETPOS: the chosen positions of one period's sorted set.
void choose_positions(const std::vector<int>& positions, std::vector<Local>& set) {
    if (positions.empty()) return;
    std::vector<Local> chosen;
    const auto size = static_cast<std::int64_t>(set.size());
    for (const int p : positions) {
        const std::int64_t index = p > 0 ? p - 1 : size + p;
        if (index >= 0 && index < size) chosen.push_back(set[static_cast<std::size_t>(index)]);
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    set = std::move(chosen);
}

std::vector<int> sorted(std::vector<int> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// Writes out the days that DTSTART stands for where the rule doesn't say (RFC 5545 3.3.10: "Information, not
// contained in the rule, necessary to determine the various recurrence instance start time and dates are
// derived from the Start Time").
Rule written_out(Rule rule, LocalDay anchor) {
    const Ymd ymd{anchor};
    const bool no_days = rule.by_day.empty() && rule.by_month_day.empty() && rule.by_year_day.empty();
    if (no_days) {
        const auto weekday = text::WeekdayNum{0, weekday_of(number(anchor))};
        if (rule.freq == Freq::weekly || (rule.freq == Freq::yearly && !rule.by_week_no.empty()))
            rule.by_day = {weekday};
        if (rule.freq == Freq::monthly || (rule.freq == Freq::yearly && rule.by_week_no.empty()))
            rule.by_month_day = {static_cast<int>(static_cast<unsigned>(ymd.day()))};
        if (rule.freq == Freq::yearly && rule.by_week_no.empty() && rule.by_month.empty())
            rule.by_month = {static_cast<int>(static_cast<unsigned>(ymd.month()))};
        return rule;
    }
    // YEARLY;BYMONTHDAY=20 is the 20th of every month; libical 3.0.16 takes the month of DTSTART only.
    const bool every_month = rule.freq == Freq::yearly && rule.by_month.empty() &&
                             !rule.by_month_day.empty() && rule.by_year_day.empty() &&
                             rule.by_week_no.empty();
    if (every_month) rule.by_month = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    return rule;
}

// The times of day (or, for HOURLY, of the hour) that the rule gives, with those of DTSTART where it doesn't
// say.
std::vector<Seconds> times_of(const Rule& rule, Seconds anchor) {
    const auto or_anchor = [](const std::vector<int>& list, std::int64_t value) {
        return list.empty() ? std::vector<int>{static_cast<int>(value)} : sorted(list);
    };
    const auto hours =
        rule.freq == Freq::hourly ? std::vector<int>{0} : or_anchor(rule.by_hour, anchor.count() / 3600);
    std::vector<Seconds> out;
    for (const int h : hours)
        for (const int m : or_anchor(rule.by_minute, anchor.count() / 60 % 60))
            for (const int s : or_anchor(rule.by_second, anchor.count() % 60))
                out.emplace_back(h * 3600 + m * 60 + std::min(s, 59));
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string numbers_part(const char* name, const std::vector<int>& list) {
    return list.empty() ? std::string() : fmt::format(";{}={}", name, fmt::join(list, ","));
}

// The days of a MONTHLY or YEARLY rule as libical reads them.
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

icaltimetype to_ical(LocalDay day) {
    const Ymd ymd{day};
    icaltimetype t = icaltime_null_time();
    t.year = static_cast<int>(ymd.year());
    t.month = static_cast<int>(static_cast<unsigned>(ymd.month()));
    t.day = static_cast<int>(static_cast<unsigned>(ymd.day()));
    return t;
}

LocalDay from_ical(const icaltimetype& t) {
    return LocalDay{Ymd{std::chrono::year{t.year}, std::chrono::month{static_cast<unsigned>(t.month)},
                        std::chrono::day{static_cast<unsigned>(t.day)}}};
}

}  // namespace

struct RuleExpander::Impl {
    Rule rule;
    Local anchor;
    bool since_ever;
    std::vector<Seconds> times;
    DayFilter filter;
    WeekFilter weeks;
    bool libical = false;        // libical expands the days
    icalrecurrencetype recur{};  // then

    Impl(const Rule& r, Local a, bool ever)
        : rule(written_out(r, day_of(a))),
          anchor(a),
          since_ever(ever),
          times(times_of(r, a - day_of(a))),
          filter(rule),
          weeks(rule) {
        // Not where libical 3.0.16 is wrong, found by comparison with the definition (oracle_test.cc): weeks
        // with numbers at the ends of years, positions in sets with repeated or negative parts or with times.
        libical = (rule.freq == Freq::monthly || rule.freq == Freq::yearly) && rule.by_set_pos.empty() &&
                  rule.by_week_no.empty();
        if (libical) recur = icalrecurrencetype_from_string(to_text(rule).c_str());
        // A rule that libical refuses (it looks for impossible dates) is judged by definition.
        if (recur.freq == ICAL_NO_RECURRENCE) libical = false;
    }

    void keep(Local l, Local from, Local to, std::vector<Local>& out) const {
        if (l >= from && l < to && (since_ever || l >= anchor)) out.push_back(l);
    }

    void hourly(Local from, Local to, std::vector<Local>& out) const {
        const std::int64_t anchor_hour = floor_div(anchor.time_since_epoch().count(), 3600);
        std::bitset<24> hours;
        for (const int h : rule.by_hour) hours.set(static_cast<std::size_t>(h));
        if (rule.by_hour.empty()) hours.set();
        std::vector<Local> set;
        for (std::int64_t day = number(day_of(from)); Local{day_at(day)} < to; ++day) {
            if (!filter.pass(day)) continue;
            for (std::int64_t hour = align_up(day * 24, anchor_hour, rule.interval); hour < day * 24 + 24;
                 hour += rule.interval) {
                if (!hours.test(static_cast<std::size_t>(hour - day * 24))) continue;
                set.clear();
                for (const Seconds t : times) set.push_back(Local{Seconds{hour * 3600}} + t);
                choose_positions(rule.by_set_pos, set);
                for (const Local l : set) keep(l, from, to, out);
            }
        }
    }

    void daily(Local from, Local to, std::vector<Local>& out) const {
        const std::int64_t first = align_up(number(day_of(from)), number(day_of(anchor)), rule.interval);
        std::vector<Local> set;
        for (std::int64_t day = first; Local{day_at(day)} < to; day += rule.interval) {
            if (!filter.pass(day)) continue;
            set.clear();
            for (const Seconds t : times) set.push_back(Local{day_at(day)} + t);
            choose_positions(rule.by_set_pos, set);
            for (const Local l : set) keep(l, from, to, out);
        }
    }

    // The day on which the week of a day begins, by WKST.
    std::int64_t week_begin(std::int64_t day) const {
        return day - (weekday_of(day) + 7 - rule.week_start) % 7;
    }

    void weekly(Local from, Local to, std::vector<Local>& out) const {
        const std::int64_t step = rule.interval * 7;
        const std::int64_t first =
            align_up(week_begin(number(day_of(from))), week_begin(number(day_of(anchor))), step);
        std::vector<Local> set;
        for (std::int64_t week = first; Local{day_at(week)} < to; week += step) {
            set.clear();
            for (std::int64_t day = week; day < week + 7; ++day)
                if (filter.pass(day))
                    for (const Seconds t : times) set.push_back(Local{day_at(day)} + t);
            choose_positions(rule.by_set_pos, set);
            for (const Local l : set) keep(l, from, to, out);
        }
    }

    // Months since year 0, or years.
    std::int64_t unit_of(LocalDay day) const {
        const Ymd ymd{day};
        return rule.freq == Freq::monthly ? month_number(ymd) : static_cast<int>(ymd.year());
    }
    LocalDay unit_begin(std::int64_t unit) const {
        if (rule.freq == Freq::monthly) return first_of_month(unit);
        return LocalDay{std::chrono::year{static_cast<int>(unit)} / 1 / 1};
    }
    // The first month or year of the rule that isn't over before `day`.
    std::int64_t first_unit(LocalDay day) const {
        return align_up(unit_of(day), unit_of(day_of(anchor)), rule.interval);
    }

    // MONTHLY and YEARLY by definition: the days of each period that pass, their times, the positions in that
    // set.
    void by_definition(Local from, Local to, std::vector<Local>& out) const {
        const bool by_week = !rule.by_week_no.empty();
        std::vector<Local> set;
        // Weeks reach up to three days into the neighbouring years.
        for (std::int64_t unit = first_unit(day_of(from) - Days{by_week ? 7 : 0});
             Local{unit_begin(unit)} < to + Days{by_week ? 7 : 0}; unit += rule.interval) {
            const std::int64_t first = by_week ? weeks.first_day(unit) : number(unit_begin(unit));
            const std::int64_t end = by_week ? weeks.first_day(unit + 1) : number(unit_begin(unit + 1));
            set.clear();
            for (std::int64_t day = first; day < end; ++day) {
                if (!filter.pass(day) || (by_week && !weeks.pass(day, first, end))) continue;
                for (const Seconds t : times) set.push_back(Local{day_at(day)} + t);
            }
            choose_positions(rule.by_set_pos, set);
            for (const Local l : set) keep(l, from, to, out);
        }
    }

    void by_libical(Local from, Local to, std::vector<Local>& out) const {
        for (Local part = from; part < to;) {
            const Local end = std::min(to, part + Days{kCycleDays});
            by_libical_within_cycle(part, end, out);
            part = end;
        }
    }

    // `to` is at most one cycle after `from`.
    void by_libical_within_cycle(Local from, Local to, std::vector<Local>& out) const {
        const LocalDay begin = unit_begin(first_unit(day_of(from)));
        // 1601-01-01 is day -134774: libical sees dates from there on.
        const Days shift{floor_div(number(begin) + 134774, kCycleDays) * kCycleDays};
        icalrecur_iterator* iterator = icalrecur_iterator_new(recur, to_ical(begin - shift));
        if (iterator == nullptr) return;
        for (icaltimetype t = icalrecur_iterator_next(iterator); icaltime_is_null_time(t) == 0;
             t = icalrecur_iterator_next(iterator)) {
            const LocalDay day = from_ical(t) + shift;
            if (Local{day} >= to) break;
            for (const Seconds time : times) keep(Local{day} + time, from, to, out);
        }
        icalrecur_iterator_free(iterator);
    }

    void expand(Local from, Local to, std::vector<Local>& out, bool may_use_libical) const {
        if (!since_ever) from = std::max(from, anchor);
        to = std::min(to, Local{kLastDay} + Days{1});
        if (from >= to) return;
        const auto begin = static_cast<std::ptrdiff_t>(out.size());
        switch (rule.freq) {
            case Freq::hourly:
                hourly(from, to, out);
                break;
            case Freq::daily:
                daily(from, to, out);
                break;
            case Freq::weekly:
                weekly(from, to, out);
                break;
            case Freq::monthly:
            case Freq::yearly:
                if (libical && may_use_libical) {
                    by_libical(from, to, out);
                } else {
                    by_definition(from, to, out);
                }
        }
        std::sort(out.begin() + begin, out.end());
        out.erase(std::unique(out.begin() + begin, out.end()), out.end());
    }
};

RuleExpander::RuleExpander(const Rule& rule, Local anchor, bool since_ever)
    : impl_(std::make_unique<const Impl>(rule, anchor, since_ever)) {}
RuleExpander::~RuleExpander() = default;
RuleExpander::RuleExpander(RuleExpander&&) noexcept = default;

void RuleExpander::expand(Local from, Local to, std::vector<Local>& out) const {
    impl_->expand(from, to, out, true);
}

std::vector<Local> RuleExpander::first(std::size_t count, Local from, Local end) const {
    std::vector<Local> found;
    for (Days step{366}; from < end && found.size() < count;
         from += step, step = std::min(step * 4, Days{kCycleDays}))
        impl_->expand(from, std::min(from + step, end), found, false);
    if (found.size() > count) found.resize(count);
    return found;
}

std::int64_t RuleExpander::period_days() const {
    const Rule& rule = impl_->rule;
    const bool by_date = !rule.by_month.empty() || !rule.by_month_day.empty() || !rule.by_year_day.empty();
    const std::int64_t unit = by_date ? kCycleDays : rule.by_day.empty() ? 1 : 7;
    switch (rule.freq) {
        case Freq::hourly:
            return std::lcm(rule.interval, unit * 24) / 24;
        case Freq::daily:
            return std::lcm(rule.interval, unit);
        case Freq::weekly:
            return 7 * std::lcm(rule.interval, by_date ? kCycleWeeks : 1);
        case Freq::monthly:
            return std::lcm(rule.interval, kCycleMonths) / kCycleMonths * kCycleDays;
        case Freq::yearly:
            break;
    }
    return std::lcm(rule.interval, kCycleYears) / kCycleYears * kCycleDays;
}

}  // namespace pbs::rrule
