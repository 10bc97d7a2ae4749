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

// The days that BYMONTH, BYMONTHDAY, BYYEARDAY and BYDAY (without numbers) leave, each day judged by itself.
class DayFilter {
  public:
    explicit DayFilter(const Rule& rule) {
        for (const int m : rule.by_month) month_.set(static_cast<std::size_t>(m));
        for (const auto& d : rule.by_day) weekday_.set(d.weekday);
        for (const int d : rule.by_month_day)
            (d > 0 ? month_day_ : month_day_from_end_).set(static_cast<std::size_t>(std::abs(d)));
        for (const int d : rule.by_year_day)
            (d > 0 ? year_day_ : year_day_from_end_).set(static_cast<std::size_t>(std::abs(d)));
        by_month_day_ = !rule.by_month_day.empty();
        by_year_day_ = !rule.by_year_day.empty();
        by_date_ = by_month_day_ || by_year_day_ || month_.any();
    }

    bool pass(std::int64_t day) const {
        if (weekday_.any() && !weekday_.test(weekday_of(day))) return false;
        if (!by_date_) return true;
        const Ymd ymd{day_at(day)};
        if (month_.any() && !month_.test(static_cast<unsigned>(ymd.month()))) return false;
        return (!by_month_day_ || month_day(ymd)) && (!by_year_day_ || year_day(day, ymd.year()));
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

    std::bitset<13> month_;
    std::bitset<7> weekday_;
    std::bitset<32> month_day_, month_day_from_end_;
    std::bitset<367> year_day_, year_day_from_end_;
    bool by_month_day_ = false;
    bool by_year_day_ = false;
    bool by_date_ = false;
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
void write_out_days(Rule& rule, LocalDay anchor) {
    const Ymd ymd{anchor};
    const bool no_days = rule.by_day.empty() && rule.by_month_day.empty() && rule.by_year_day.empty();
    if (!no_days) return;
    const auto weekday = text::WeekdayNum{0, weekday_of(number(anchor))};
    if (rule.freq == Freq::weekly || (rule.freq == Freq::yearly && !rule.by_week_no.empty()))
        rule.by_day = {weekday};
    if (rule.freq == Freq::monthly || (rule.freq == Freq::yearly && rule.by_week_no.empty()))
        rule.by_month_day = {static_cast<int>(static_cast<unsigned>(ymd.day()))};
    if (rule.freq == Freq::yearly && rule.by_week_no.empty() && rule.by_month.empty())
        rule.by_month = {static_cast<int>(static_cast<unsigned>(ymd.month()))};
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

// The rule as libical reads it, without COUNT and UNTIL.
std::string to_text(const Rule& rule, bool with_times) {
    std::string out =
        fmt::format("FREQ={};INTERVAL={}", rule.freq == Freq::monthly ? "MONTHLY" : "YEARLY", rule.interval);
    if (with_times)
        out += numbers_part("BYSECOND", rule.by_second) + numbers_part("BYMINUTE", rule.by_minute) +
               numbers_part("BYHOUR", rule.by_hour);
    out += numbers_part("BYMONTHDAY", rule.by_month_day) + numbers_part("BYYEARDAY", rule.by_year_day) +
           numbers_part("BYWEEKNO", rule.by_week_no) + numbers_part("BYMONTH", rule.by_month) +
           numbers_part("BYSETPOS", rule.by_set_pos);
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

Local from_ical(const icaltimetype& t) {
    const Ymd ymd{std::chrono::year{t.year}, std::chrono::month{static_cast<unsigned>(t.month)},
                  std::chrono::day{static_cast<unsigned>(t.day)}};
    return Local{LocalDay{ymd}} + Seconds{t.hour * 3600 + t.minute * 60 + t.second};
}

}  // namespace

struct RuleExpander::Impl {
    Rule rule;
    Local anchor;
    bool since_ever;
    std::vector<Seconds> times;
    DayFilter filter;
    bool libical_times = false;  // libical expands the times too (BYSETPOS chooses among them)
    icalrecurrencetype recur{};  // MONTHLY and YEARLY

    Impl(const Rule& r, Local a, bool ever)
        : rule(r), anchor(a), since_ever(ever), times(times_of(r, a - day_of(a))), filter(r) {
        write_out_days(rule, day_of(anchor));
        filter = DayFilter(rule);
        if (rule.freq != Freq::monthly && rule.freq != Freq::yearly) return;
        libical_times = !rule.by_set_pos.empty() && times.size() > 1;
        if (libical_times) write_out_times();
        recur = icalrecurrencetype_from_string(to_text(rule, libical_times).c_str());
    }

    void write_out_times() {
        const auto time = (anchor - day_of(anchor)).count();
        if (rule.by_hour.empty()) rule.by_hour = {static_cast<int>(time / 3600)};
        if (rule.by_minute.empty()) rule.by_minute = {static_cast<int>(time / 60 % 60)};
        if (rule.by_second.empty()) rule.by_second = {static_cast<int>(time % 60)};
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

    // The first day of the last month or year of the rule that begins on or before `day`; with BYWEEKNO,
    // whose weeks reach into the neighbouring years, of the one before that.
    LocalDay period_begin(LocalDay day) const {
        const Ymd ymd{day};
        const Ymd origin{day_of(anchor)};
        if (rule.freq == Freq::monthly) {
            const auto from = month_number(ymd);
            const auto phase = month_number(origin);
            return first_of_month(phase + floor_div(from - phase, rule.interval) * rule.interval);
        }
        const std::int64_t from = static_cast<int>(ymd.year());
        const std::int64_t phase = static_cast<int>(origin.year());
        auto year = phase + floor_div(from - phase, rule.interval) * rule.interval;
        if (!rule.by_week_no.empty()) year -= rule.interval;
        return LocalDay{std::chrono::year{static_cast<int>(year)} / 1 / 1};
    }

    // The same, or the next one where that lies wholly before `day`: keeps libical's dates near to what is
    // asked.
    LocalDay start_day(LocalDay day) const {
        const LocalDay begin = period_begin(day);
        const Ymd ymd{begin};
        if (rule.freq == Freq::monthly) {
            const auto month = month_number(ymd);
            return first_of_month(month + 1) > day ? begin : first_of_month(month + rule.interval);
        }
        const int year = static_cast<int>(ymd.year());
        if (LocalDay{std::chrono::year{year + 1} / 1 / 8} > day || !rule.by_week_no.empty()) return begin;
        return LocalDay{std::chrono::year{year + static_cast<int>(rule.interval)} / 1 / 1};
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
        const LocalDay begin = start_day(day_of(from));
        // 1601-01-01 is day -134774: libical sees dates from there on.
        const auto cycles = floor_div(number(begin) + 134774, kCycleDays);
        const Days shift{cycles * kCycleDays};
        icaltimetype start = to_ical(begin - shift);
        icalrecur_iterator* iterator = icalrecur_iterator_new(recur, start);
        if (iterator == nullptr) return;
        for (icaltimetype t = icalrecur_iterator_next(iterator); icaltime_is_null_time(t) == 0;
             t = icalrecur_iterator_next(iterator)) {
            const Local l = from_ical(t) + shift;
            if (l >= to + Days{8}) break;
            if (libical_times) {
                keep(l, from, to, out);
            } else {
                for (const Seconds time : times) keep(Local{day_of(l)} + time, from, to, out);
            }
        }
        icalrecur_iterator_free(iterator);
    }
};

RuleExpander::RuleExpander(const Rule& rule, Local anchor, bool since_ever)
    : impl_(std::make_unique<const Impl>(rule, anchor, since_ever)) {}
RuleExpander::~RuleExpander() = default;
RuleExpander::RuleExpander(RuleExpander&&) noexcept = default;

bool RuleExpander::valid() const {
    const bool ours = impl_->rule.freq != Freq::monthly && impl_->rule.freq != Freq::yearly;
    return ours || impl_->recur.freq != ICAL_NO_RECURRENCE;
}

void RuleExpander::expand(Local from, Local to, std::vector<Local>& out) const {
    if (!impl_->since_ever) from = std::max(from, impl_->anchor);
    to = std::min(to, Local{kLastDay} + Days{1});
    if (from >= to) return;
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    switch (impl_->rule.freq) {
        case Freq::hourly:
            impl_->hourly(from, to, out);
            break;
        case Freq::daily:
            impl_->daily(from, to, out);
            break;
        case Freq::weekly:
            impl_->weekly(from, to, out);
            break;
        case Freq::monthly:
        case Freq::yearly:
            impl_->by_libical(from, to, out);
            break;
    }
    std::sort(out.begin() + begin, out.end());
    out.erase(std::unique(out.begin() + begin, out.end()), out.end());
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
