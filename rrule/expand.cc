#include "rrule/expand.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "rrule/day_filter.h"
#include "rrule/libical_days.h"

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

constexpr std::array<Seconds, 1> kMidnight{Seconds{0}};

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

std::int64_t month_number(const Ymd& ymd) {
    return std::int64_t{static_cast<int>(ymd.year())} * 12 + static_cast<unsigned>(ymd.month()) - 1;
}
LocalDay first_of_month(std::int64_t n) {
    const auto year = floor_div(n, 12);
    return LocalDay{std::chrono::year{static_cast<int>(year)} /
                    std::chrono::month{static_cast<unsigned>(n - year * 12 + 1)} / 1};
}

std::vector<int> sorted(std::vector<int> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// BYSETPOS: the indexes that it chooses in a set of `size`, ascending; all of them without BYSETPOS.
std::vector<std::size_t> chosen_indexes(const std::vector<int>& positions, std::size_t size) {
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

// Writes out the days that DTSTART stands for where the rule doesn't say (RFC 5545 3.3.10: "Information, not
// contained in the rule, necessary to determine the various recurrence instance start time and dates are
// derived from the Start Time").
Rule written_out(Rule rule, LocalDay anchor) {
    const Ymd ymd{anchor};
    const bool no_days = rule.by_day.empty() && rule.by_month_day.empty() && rule.by_year_day.empty();
    if (no_days) {
        const auto weekday = text::WeekdayNum{0, weekday_of(day_number(anchor))};
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
                             rule.by_week_no.empty() && rule.by_day.empty();
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

}  // namespace

struct RuleExpander::Impl {
    Rule rule;
    Local anchor;
    bool since_ever;
    std::vector<Seconds> times;
    DayFilter filter;
    WeekFilter weeks;
    std::optional<LibicalDays> libical;
    std::uint64_t steps = 0;

    Impl(const Rule& r, Local a, bool ever)
        : rule(written_out(r, day_of(a))),
          anchor(a),
          since_ever(ever),
          times(times_of(r, a - day_of(a))),
          filter(rule),
          weeks(rule),
          libical(LibicalDays::of(rule)) {
        // A period of an hour or a day holds the same times each time.
        if ((rule.freq == Freq::hourly || rule.freq == Freq::daily) && !rule.by_set_pos.empty()) {
            std::vector<Seconds> chosen;
            for (const std::size_t i : chosen_indexes(rule.by_set_pos, times.size()))
                chosen.push_back(times[i]);
            times = std::move(chosen);
        }
    }

    // Days from `from` to before `to`, for a sink. The walks below look at days before and after them too.
    struct Walk {
        std::int64_t from;
        std::int64_t to;
        const Sink& sink;

        bool give(std::int64_t day, std::span<const Seconds> hours, std::span<const Seconds> at) const {
            return day < from || day >= to || at.empty() || sink({day_at(day), hours, at});
        }
    };

    bool hourly(const Walk& walk) {
        const std::int64_t anchor_hour = floor_div(anchor.time_since_epoch().count(), 3600);
        std::bitset<24> wanted;
        for (const int h : rule.by_hour) wanted.set(static_cast<std::size_t>(h));
        if (rule.by_hour.empty()) wanted.set();
        std::vector<Seconds> hours;
        for (std::int64_t day = walk.from; (day = filter.month_from(day)) < walk.to; ++day) {
            ++steps;
            if (!filter.pass(day)) continue;
            hours.clear();
            for (std::int64_t hour = align_up(day * 24, anchor_hour, rule.interval); hour < day * 24 + 24;
                 hour += rule.interval) {
                const std::int64_t of_day = hour - day * 24;
                if (wanted.test(static_cast<std::size_t>(of_day))) hours.emplace_back(of_day * 3600);
            }
            if (!hours.empty() && !walk.give(day, hours, times)) return false;
        }
        return true;
    }

    bool daily(const Walk& walk) {
        const std::int64_t origin = day_number(day_of(anchor));
        for (std::int64_t day = align_up(walk.from, origin, rule.interval); day < walk.to;
             day = align_up(filter.month_from(day + rule.interval), origin, rule.interval)) {
            ++steps;
            if (filter.pass(day) && !walk.give(day, kMidnight, times)) return false;
        }
        return true;
    }

    // The day on which the week of a day begins, by WKST.
    std::int64_t week_begin(std::int64_t day) const {
        return day - (weekday_of(day) + 7 - rule.week_start) % 7;
    }

    bool weekly(const Walk& walk) {
        const std::int64_t step = rule.interval * 7;
        std::vector<std::int64_t> set;
        for (std::int64_t week =
                 align_up(week_begin(walk.from), week_begin(day_number(day_of(anchor))), step);
             week < walk.to; week += step) {
            ++steps;
            set.clear();
            for (std::int64_t day = week; day < week + 7; ++day)
                if (filter.pass(day)) set.push_back(day);
            if (!give_set(walk, set)) return false;
        }
        return true;
    }

    // The days of one period with their times, or what BYSETPOS chooses of them.
    bool give_set(const Walk& walk, const std::vector<std::int64_t>& set) {
        if (rule.by_set_pos.empty())
            return std::all_of(set.begin(), set.end(),
                               [&](std::int64_t day) { return walk.give(day, kMidnight, times); });
        std::vector<Seconds> of_day;
        const auto chosen = chosen_indexes(rule.by_set_pos, set.size() * times.size());
        for (std::size_t i = 0; i < chosen.size();) {
            const std::size_t day = chosen[i] / times.size();
            of_day.clear();
            for (; i < chosen.size() && chosen[i] / times.size() == day; ++i)
                of_day.push_back(times[chosen[i] % times.size()]);
            if (!walk.give(set[day], kMidnight, of_day)) return false;
        }
        return true;
    }

    // Months since year 0, or years.
    std::int64_t unit_of(std::int64_t day) const {
        const Ymd ymd{day_at(day)};
        return rule.freq == Freq::monthly ? month_number(ymd) : static_cast<int>(ymd.year());
    }
    LocalDay unit_begin(std::int64_t unit) const {
        if (rule.freq == Freq::monthly) return first_of_month(unit);
        return LocalDay{std::chrono::year{static_cast<int>(unit)} / 1 / 1};
    }
    // The first month or year of the rule that isn't over before `day`.
    std::int64_t first_unit(std::int64_t day) const {
        return align_up(unit_of(day), unit_of(day_number(day_of(anchor))), rule.interval);
    }

    // MONTHLY and YEARLY by definition: the days of each period that pass.
    bool by_definition(const Walk& walk) {
        const bool by_week = !rule.by_week_no.empty();
        // Weeks reach up to three days into the neighbouring years. Compared as units: dates of far units
        // (an INTERVAL of 32767 years) don't exist.
        const std::int64_t last = unit_of(walk.to - 1 + (by_week ? 7 : 0));
        std::vector<std::int64_t> set;
        for (std::int64_t unit = first_unit(walk.from - (by_week ? 7 : 0)); unit <= last;
             unit += rule.interval) {
            const std::int64_t first = by_week ? weeks.first_day(unit) : day_number(unit_begin(unit));
            const std::int64_t end = by_week ? weeks.first_day(unit + 1) : day_number(unit_begin(unit + 1));
            set.clear();
            ++steps;
            for (std::int64_t day = first; (day = filter.month_from(day)) < end; ++day) {
                ++steps;
                if (filter.pass(day) && (!by_week || weeks.pass(day, first, end))) set.push_back(day);
            }
            if (!give_set(walk, set)) return false;
        }
        return true;
    }

    bool by_libical(const Walk& walk) {
        std::vector<LocalDay> found;
        for (std::int64_t from = walk.from; from < walk.to; from += kCycleDays) {
            const std::int64_t to = std::min(walk.to, from + kCycleDays);
            const std::int64_t unit = first_unit(from);
            if (unit > unit_of(to - 1)) continue;
            found.clear();
            steps += libical->days(unit_begin(unit), day_at(to), found);
            for (const LocalDay day : found)
                if (day_number(day) >= from && !walk.give(day_number(day), kMidnight, times)) return false;
        }
        return true;
    }

    // False when the sink ended it.
    bool walk(LocalDay from, LocalDay to, bool may_use_libical, const Sink& sink) {
        from = std::max(from, since_ever ? kFirstDay : day_of(anchor));
        to = std::min(to, kLastDay + Days{1});
        if (from >= to) return true;
        const Walk range{day_number(from), day_number(to), sink};
        switch (rule.freq) {
            case Freq::hourly:
                return hourly(range);
            case Freq::daily:
                return daily(range);
            case Freq::weekly:
                return weekly(range);
            case Freq::monthly:
            case Freq::yearly:
                break;
        }
        return libical && may_use_libical ? by_libical(range) : by_definition(range);
    }

    // The occurrences of a day in [from, to); false when `seen` ended it.
    template <class Seen>
    bool each(const Day& day, Local from, Local to, const Seen& seen) {
        if (!since_ever) from = std::max(from, anchor);
        for (const Seconds hour : day.hours) {
            const Local base = Local{day.day} + hour;
            auto time = day.times.begin();
            if (base < from) time = std::lower_bound(time, day.times.end(), from - base);
            for (; time != day.times.end() && base + *time < to; ++time) {
                ++steps;
                if (!seen(base + *time)) return false;
            }
        }
        return true;
    }
};

RuleExpander::RuleExpander(const Rule& rule, Local anchor, bool since_ever)
    : impl_(std::make_unique<Impl>(rule, anchor, since_ever)) {}
RuleExpander::~RuleExpander() = default;
RuleExpander::RuleExpander(RuleExpander&&) noexcept = default;

void RuleExpander::expand(Local from, Local to, std::vector<Local>& out) const {
    if (from >= to) return;
    impl_->walk(day_of(from), day_of(to - Seconds{1}) + Days{1}, true, [&](const Day& day) {
        return impl_->each(day, from, to, [&](Local l) {
            out.push_back(l);
            return true;
        });
    });
}

void RuleExpander::days(LocalDay from, LocalDay to, std::vector<LocalDay>& out) const {
    const LocalDay first = day_of(impl_->anchor);
    impl_->walk(from, to, true, [&](const Day& day) {
        // On the day of DTSTART some times may be before it.
        if (impl_->since_ever || day.day != first ||
            Local{day.day} + day.hours.back() + day.times.back() >= impl_->anchor)
            out.push_back(day.day);
        return true;
    });
}

void RuleExpander::first(std::size_t count, Local from, Local end,
                         const std::function<bool(Local)>& seen) const {
    if (from >= end) return;
    impl_->walk(day_of(from), day_of(end - Seconds{1}) + Days{1}, false, [&](const Day& day) {
        return impl_->each(day, from, end, [&](Local l) { return seen(l) && --count > 0; });
    });
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

std::uint64_t RuleExpander::steps() const {
    return impl_->steps;
}

}  // namespace pbs::rrule
