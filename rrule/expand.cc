#include "rrule/expand.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "rrule/day_filter.h"
#include "rrule/day_steps.h"
#include "rrule/year_days.h"

namespace pbs::rrule {
namespace {

using text::Freq;
using text::Rule;
using Ymd = std::chrono::year_month_day;
using Days = std::chrono::days;

constexpr std::int64_t kCycleWeeks = kCycleDays / 7;
constexpr std::int64_t kCycleMonths = 4800;
constexpr std::int64_t kCycleYears = 400;
constexpr int kFirstYear = 1600;
constexpr int kLastYear = 9999;

std::vector<int> sorted(std::vector<int> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// Fills in the days that follow from DTSTART where the rule names none (RFC 5545 3.3.10: "Information, not
// contained in the rule, necessary to determine the various recurrence instance start time and dates are
// derived from the Start Time").
Rule written_out(Rule rule, LocalDay anchor) {
    const Ymd ymd{anchor};
    const bool no_days = rule.by_day.empty() && rule.by_month_day.empty() && rule.by_year_day.empty();
    if (no_days) {
        const auto weekday = text::WeekdayNum{0, static_cast<unsigned>(weekday_of(day_number(anchor)))};
        if (rule.freq == Freq::weekly || (rule.freq == Freq::yearly && !rule.by_week_no.empty()))
            rule.by_day = {weekday};
        if (rule.freq == Freq::monthly || (rule.freq == Freq::yearly && rule.by_week_no.empty()))
            rule.by_month_day = {static_cast<int>(static_cast<unsigned>(ymd.day()))};
        if (rule.freq == Freq::yearly && rule.by_week_no.empty() && rule.by_month.empty())
            rule.by_month = {static_cast<int>(static_cast<unsigned>(ymd.month()))};
    }
    return rule;
}

// Returns the rule's times of day (for HOURLY and MINUTELY, the times within the hour or minute). Where the
// rule names none, they come from DTSTART.
std::vector<Seconds> times_of(const Rule& rule, Seconds anchor) {
    const auto or_anchor = [](const std::vector<int>& list, std::int64_t value) {
        return list.empty() ? std::vector<int>{static_cast<int>(value)} : sorted(list);
    };
    const std::vector<int> zero{0};
    const auto hours = DaySteps::are_of(rule) ? zero : or_anchor(rule.by_hour, anchor.count() / 3600);
    const auto minutes =
        rule.freq == Freq::minutely ? zero : or_anchor(rule.by_minute, anchor.count() / 60 % 60);
    std::vector<Seconds> out;
    for (const int h : hours)
        for (const int m : minutes)
            for (const int s : or_anchor(rule.by_second, anchor.count() % 60))
                out.emplace_back(h * 3600 + m * 60 + std::min(s, 59));
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace

struct RuleExpander::Impl {
    Rule rule;
    Local anchor;
    bool since_ever;
    std::vector<Seconds> times;
    std::vector<int> positions;  // BYSETPOS; empty if it only selects times of a day
    DayFilter filter;
    WeekFilter weeks;
    std::optional<DayCycle> cycle;
    std::optional<DaySteps> day_steps;  // of a rule that goes by hours or minutes
    bool by_week;
    int anchor_year;  // the anchor's year; with BYWEEKNO, the year of its week
    std::uint64_t steps = 0;
    // For each kind of year (Year::kind): the days that all BY parts except BYSETPOS select, and those of
    // them that BYSETPOS selects. Neither regards INTERVAL. With BYWEEKNO the days of a year are those of its
    // weeks.
    std::array<std::optional<YearDays>, Year::kKinds> filtered_, chosen_;

    Impl(const Rule& r, Local a, bool ever)
        : rule(written_out(r, day_of(a))),
          anchor(a),
          since_ever(ever),
          times(times_of(r, a - day_of(a))),
          positions(sorted(r.by_set_pos)),
          filter(rule),
          weeks(rule),
          cycle(DayCycle::of(rule, a)),
          by_week(!rule.by_week_no.empty()),
          anchor_year(by_week && !ever ? weeks.year_of(day_number(day_of(a)))
                                       : Year::of(day_number(day_of(a)))) {
        if (DaySteps::are_of(rule)) day_steps.emplace(rule, anchor);
        // every period of a minute, an hour or a day has the same times, so BYSETPOS can be applied once
        if (rule.freq <= Freq::daily && !positions.empty()) {
            std::vector<Seconds> some;
            for (const std::size_t i : chosen_of(times.size())) some.push_back(times[i]);
            times = std::move(some);
            positions.clear();
        }
    }

    // The indexes that BYSETPOS selects in a set of this size, ascending.
    std::vector<std::size_t> chosen_of(std::size_t size) const {
        std::vector<std::size_t> out;
        for (const int p : positions) {
            const std::int64_t index = p > 0 ? p - 1 : static_cast<std::int64_t>(size) + p;
            if (index >= 0 && index < static_cast<std::int64_t>(size))
                out.push_back(static_cast<std::size_t>(index));
        }
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

    const YearDays& filtered(const Year& year) {
        auto& known = filtered_[static_cast<std::size_t>(year.kind)];
        if (!known) known = filter.year(year);
        return *known;
    }

    // Returns the days that all BY parts except BYSETPOS select, counted from `begin`, which must be near 1
    // January of the year.
    YearDays filtered_from(const Year& year, std::int64_t begin) {
        YearDays out;
        for (int y = year.number - 1; y <= year.number + 1; ++y) {
            const Year other(y);
            out |= filtered(other).shifted(static_cast<int>(other.first - begin));
        }
        return out;
    }

    // A period of the rule, such as a week or a month: [from, to), in days from `begin`. `days` are the days
    // in and around the period that all BY parts except BYSETPOS select.
    struct Period {
        YearDays days;
        std::int64_t begin;
        int from;
        int to;
    };
    Period week_period(const Year& year, std::int64_t day) {
        const std::int64_t begin = year.first - 7;
        const std::int64_t week = day - (weekday_of(day) + 7 - static_cast<int>(rule.week_start)) % 7;
        const auto from = static_cast<int>(week - begin);
        return {filtered_from(year, begin), begin, from, from + 7};
    }
    Period week_year_period(int number) {
        const std::int64_t begin = weeks.first_day(number);
        const auto length = static_cast<int>(weeks.first_day(number + 1) - begin);
        return {filtered_from(Year(number), begin) & weeks.days(number), begin, 0, length};
    }
    // The period that holds a day.
    Period period_of(std::int64_t day) {
        if (by_week) return week_year_period(weeks.year_of(day));
        const Year year(Year::of(day));
        if (rule.freq == Freq::weekly) return week_period(year, day);
        Period out{filtered(year), year.first, 0, year.length};
        if (rule.freq == Freq::yearly) return out;
        int month = 0;
        while (year.first + year.before_month(month + 1) <= day) ++month;
        out.from = year.before_month(month);
        out.to = year.before_month(month + 1);
        return out;
    }

    // Calls seen(day, time) for each time of a period that BYSETPOS selects, ascending. The work grows with
    // BYSETPOS, not with the number of times a day.
    template <class Seen>
    void choose(const Period& period, const Seen& seen) const {
        const YearDays inside = period.days & YearDays::range(period.from, period.to);
        std::vector<int> days;
        for (int day = inside.next(0); day < YearDays::kBits; day = inside.next(day + 1)) days.push_back(day);
        for (const std::size_t i : chosen_of(days.size() * times.size()))
            seen(days[i / times.size()], times[i % times.size()]);
    }
    void add_chosen(const Period& period, YearDays& out) const {
        if (positions.empty()) {
            out |= period.days & YearDays::range(period.from, period.to);
        } else {
            choose(period, [&](int day, Seconds) { out.set(day); });
        }
    }

    // Returns the selected days of a year, whatever INTERVAL is. With BYWEEKNO these are the days of the
    // year's weeks, counted from the first day of these weeks.
    const YearDays& chosen(const Year& year) {
        auto& known = chosen_[static_cast<std::size_t>(year.kind)];
        if (known) return *known;
        YearDays out;
        if (by_week) {
            add_chosen(week_year_period(year.number), out);
        } else if (positions.empty()) {
            out = filtered(year);
        } else if (rule.freq == Freq::weekly) {
            Period week = week_period(year, year.first);
            YearDays around;
            for (; week.from < year.length + 7; week.from += 7, week.to += 7) add_chosen(week, around);
            out = around.shifted(-7) & year.all();
        } else {
            for (std::int64_t day = year.first; day < year.first + year.length;) {
                const Period period = period_of(day);
                add_chosen(period, out);
                day = period.begin + period.to;
            }
        }
        known = out;
        return *known;
    }

    // With BYWEEKNO: the selected days of a year that lie in weeks of years for which wanted() is true.
    template <class Wanted>
    YearDays weeks_in(const Year& year, const Wanted& wanted) {
        YearDays out;
        for (int y = year.number - 1; y <= year.number + 1; ++y)
            if (wanted(y)) out |= chosen(Year(y)).shifted(static_cast<int>(weeks.first_day(y) - year.first));
        return out & year.all();
    }

    // Returns the days of a year that the rule selects, with regard to INTERVAL.
    YearDays taken(const Year& year) {
        if (by_week)
            return weeks_in(year, [&](int y) { return remainder(y - anchor_year, rule.interval) == 0; });
        if (cycle) return chosen(year) & cycle->year(year);
        if (rule.interval == 1) return chosen(year);
        if (rule.freq == Freq::yearly)
            return remainder(year.number - anchor_year, rule.interval) == 0 ? chosen(year) : YearDays{};
        if (rule.freq != Freq::monthly) return chosen(year);
        const Ymd ymd{day_of(anchor)};
        const std::int64_t since =
            std::int64_t{year.number - anchor_year} * 12 - (static_cast<unsigned>(ymd.month()) - 1);
        YearDays months;
        for (std::int64_t month = remainder(-since, rule.interval); month < 12; month += rule.interval) {
            const auto m = static_cast<int>(month);
            months |= YearDays::range(year.before_month(m), year.before_month(m + 1));
        }
        return chosen(year) & months;
    }

    YearDays days(const Year& year) {
        ++steps;
        if (times.empty() || year.number < kFirstYear || year.number > kLastYear) return {};
        YearDays out = taken(year);
        if (since_ever) return out;
        const std::int64_t first = day_number(day_of(anchor)) - year.first;
        if (first < 0) return out;
        if (first >= year.length) return {};
        out &= ~YearDays::range(0, static_cast<int>(first));
        // if all times of the rule on the day of DTSTART are before DTSTART, nothing occurs on that day
        const auto day = static_cast<int>(first);
        if (out.test(day) &&
            !times_on(year.first + first, day_of(anchor), anchor, kNoEnd, [](Local) { return false; }))
            return out;
        out.reset(day);
        return out;
    }

    static constexpr Local kNoEnd = Local::max();

    // Calls `seen` with the occurrences of a day in [from, to). Returns false when `seen` returned false or
    // `to` was reached.
    template <class Seen>
    bool times_on(std::int64_t number, LocalDay day, Local from, Local to, const Seen& seen) {
        if (!since_ever) from = std::max(from, anchor);
        const auto give = [&](Local l) {
            if (l < from) return true;
            ++steps;
            return l < to && seen(l);
        };
        const auto all_from = [&](Local base) {
            return std::all_of(times.begin(), times.end(), [&](Seconds time) { return give(base + time); });
        };
        if (day_steps)
            return day_steps->each(number, 1, [&](Seconds begin) {
                const Local base = Local{day} + begin;
                return base + day_steps->length() <= from || all_from(base);
            });
        if (positions.empty()) return all_from(Local{day});
        const Period period = period_of(number);
        bool goes_on = true;
        choose(period, [&](int other, Seconds time) {
            if (goes_on && period.begin + other == number) goes_on = give(Local{day} + time);
        });
        return goes_on;
    }
};

RuleExpander::RuleExpander(const Rule& rule, Local anchor, bool since_ever)
    : impl_(std::make_unique<Impl>(rule, anchor, since_ever)) {}
RuleExpander::~RuleExpander() = default;
RuleExpander::RuleExpander(RuleExpander&&) noexcept = default;

YearDays RuleExpander::year(const Year& year) const {
    return impl_->days(year);
}

std::array<YearDays, Year::kKinds> RuleExpander::ever() const {
    std::array<YearDays, Year::kKinds> out;
    // Each kind of year comes once in 28 years without a change of century, so look at 28 years. With
    // BYWEEKNO, weeks of the years before and after reach into a year, and the kinds of these years depend on
    // changes of century too: look at 400 years.
    const int years = impl_->by_week ? static_cast<int>(kCycleYears) : Year::kKinds;
    for (int y = 2001; y < 2001 + years; ++y) {
        const Year year(y);
        out[static_cast<std::size_t>(year.kind)] |=
            impl_->by_week ? impl_->weeks_in(year, [](int) { return true; }) : impl_->chosen(year);
    }
    return out;
}

std::bitset<7> RuleExpander::weekdays() const {
    std::bitset<7> out;
    for (const text::WeekdayNum& d : impl_->rule.by_day) out.set(d.weekday);
    return out.any() ? out : out.set();
}

const DayCycle* RuleExpander::cycle() const {
    return impl_->cycle ? &*impl_->cycle : nullptr;
}

void RuleExpander::each(std::size_t count, Local from, Local to,
                        const std::function<bool(Local)>& seen) const {
    from = std::max(from, impl_->since_ever ? Local{kFirstDay} : impl_->anchor);
    to = std::min(to, Local{kLastDay} + Days{1});
    if (from >= to || count == 0) return;
    const std::int64_t first = day_number(day_of(from));
    const int last_year = Year::of(day_number(day_of(to - Seconds{1})));
    for (int y = Year::of(first); y <= last_year; ++y) {
        const Year year(y);
        const YearDays days = impl_->days(year);
        const auto begin = static_cast<int>(std::max<std::int64_t>(0, first - year.first));
        for (int day = days.next(begin); day < YearDays::kBits; day = days.next(day + 1)) {
            const std::int64_t number = year.first + day;
            if (Local{day_at(number)} >= to) return;
            const bool goes_on = impl_->times_on(number, day_at(number), from, to,
                                                 [&](Local l) { return seen(l) && --count > 0; });
            if (!goes_on) return;
        }
    }
}

std::int64_t RuleExpander::period_days() const {
    const Rule& rule = impl_->rule;
    const bool by_date = !rule.by_month.empty() || !rule.by_month_day.empty() || !rule.by_year_day.empty();
    const std::int64_t unit = by_date ? kCycleDays : rule.by_day.empty() ? 1 : 7;
    switch (rule.freq) {
        case Freq::minutely:
            return std::lcm(rule.interval, unit * 1440) / 1440;
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

std::uint64_t RuleExpander::steps() const {
    return impl_->steps;
}

}  // namespace pbs::rrule
