#include "tests/rrule/definition.h"

#include <algorithm>

namespace pbs::rrule::test {
namespace {

using Days = std::chrono::days;

const char* const kFreqs[] = {"MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"};
const char* const kWeekdays[] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};

bool has(const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

// Returns whether the list has `number`, which is one of 1 to `length`. A negative element counts from the
// end: -1 is the last number.
bool counted(const std::vector<int>& list, int number, int length) {
    return has(list, number) || has(list, number - length - 1);
}

struct Date {
    int year, month, day, month_length, year_day, year_length;
    int weekday;  // day of the week; 0: Sunday
};

Date date_of(LocalDay d) {
    const std::chrono::year_month_day ymd{d};
    const LocalDay first{ymd.year() / 1 / 1};
    Date out{};
    out.year = static_cast<int>(ymd.year());
    out.month = static_cast<int>(static_cast<unsigned>(ymd.month()));
    out.day = static_cast<int>(static_cast<unsigned>(ymd.day()));
    out.month_length =
        static_cast<int>(static_cast<unsigned>((ymd.year() / ymd.month() / std::chrono::last).day()));
    out.year_day = static_cast<int>((d - first).count()) + 1;
    out.year_length = ymd.year().is_leap() ? 366 : 365;
    out.weekday = static_cast<int>(std::chrono::weekday{d}.c_encoding());
    return out;
}

// The week of a day: its year, which is that of the week's fourth day; its number in this year; and the
// number of weeks that this year has.
struct Week {
    int year, number, count;
};

Week week_of(LocalDay d, unsigned week_start) {
    const int since = (date_of(d).weekday + 7 - static_cast<int>(week_start)) % 7;
    const LocalDay fourth = d + Days{3 - since};
    const Date date = date_of(fourth);
    // the number of weeks of the year is the number of its days that have the fourth day's weekday
    const int first = (date.year_day - 1) % 7 + 1;
    return {date.year, (date.year_day - 1) / 7 + 1, (date.year_length - first) / 7 + 1};
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// A rule together with the parts that it takes from its start because it doesn't have them itself.
struct Meaning {
    Definition rule;
    Local start;

    explicit Meaning(const Definition& d) : rule(d), start(d.start.value_or(local("1601-01-01") + d.at)) {
        const Date date = date_of(std::chrono::floor<Days>(start));
        if (rule.week_days.empty() && rule.month_days.empty() && rule.year_days.empty()) {
            const bool by_week = !rule.weeks.empty();
            if (rule.unit == Unit::week || by_week)
                rule.week_days.emplace_back(0, static_cast<unsigned>(date.weekday));
            if (rule.unit == Unit::month || (rule.unit == Unit::year && !by_week))
                rule.month_days.push_back(date.day);
            if (rule.unit == Unit::year && !by_week && rule.months.empty()) rule.months.push_back(date.month);
        }
        const auto time = (start - std::chrono::floor<Days>(start)).count();
        if (rule.hours.empty() && rule.unit > Unit::hour) rule.hours.push_back(static_cast<int>(time / 3600));
        if (rule.minutes.empty() && rule.unit != Unit::minute)
            rule.minutes.push_back(static_cast<int>(time / 60 % 60));
    }

    // Returns the number of the period (day, week, month or year) in which a day is.
    std::int64_t period(LocalDay d) const {
        const Date date = date_of(d);
        switch (rule.unit) {
            case Unit::minute:
            case Unit::hour:
            case Unit::day:
                return d.time_since_epoch().count();
            case Unit::week:
                // day number 3 since the Epoch was a Sunday
                return floor_div(d.time_since_epoch().count() - 3 - rule.week_start, 7);
            case Unit::month:
                return date.year * 12 + date.month;
            case Unit::year:
                break;
        }
        return rule.weeks.empty() ? date.year : week_of(d, rule.week_start).year;
    }
    std::int64_t first_period() const {
        const LocalDay d = std::chrono::floor<Days>(start);
        // a yearly rule without a start counts intervals from the year 1601, even if it counts in weeks
        return rule.unit == Unit::year && !rule.start ? date_of(d).year : period(d);
    }

    bool week_day(const Date& d) const {
        if (rule.week_days.empty()) return true;
        const bool of_year = rule.unit == Unit::year && rule.months.empty();
        const int number = of_year ? d.year_day : d.day;
        const int length = of_year ? d.year_length : d.month_length;
        return std::any_of(rule.week_days.begin(), rule.week_days.end(), [&](const auto& w) {
            return static_cast<int>(w.second) == d.weekday &&
                   (w.first == 0 || w.first == (number - 1) / 7 + 1 ||
                    w.first == -((length - number) / 7 + 1));
        });
    }

    bool on(LocalDay day) const {
        const Date d = date_of(day);
        if (!rule.months.empty() && !has(rule.months, d.month)) return false;
        if (!rule.month_days.empty() && !counted(rule.month_days, d.day, d.month_length)) return false;
        if (!rule.year_days.empty() && !counted(rule.year_days, d.year_day, d.year_length)) return false;
        if (!rule.weeks.empty()) {
            const Week week = week_of(day, rule.week_start);
            if (!counted(rule.weeks, week.number, week.count)) return false;
        }
        return week_day(d);
    }

    std::vector<Local> chosen(std::vector<Local> set) const {
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
        if (rule.positions.empty()) return set;
        std::vector<Local> out;
        for (std::size_t i = 0; i < set.size(); ++i)
            if (counted(rule.positions, static_cast<int>(i) + 1, static_cast<int>(set.size())))
                out.push_back(set[i]);
        return out;
    }

    void hours_of(LocalDay day, std::vector<Local>& out) const {
        for (int h = 0; h < 24; ++h) {
            const std::int64_t hour = day.time_since_epoch().count() * 24 + h;
            const std::int64_t first = floor_div(start.time_since_epoch().count(), 3600);
            if ((hour - first) % rule.interval != 0) continue;
            if (!rule.hours.empty() && !has(rule.hours, h)) continue;
            std::vector<Local> set;
            for (const int m : rule.minutes) set.push_back(Local{day} + hm(h, m));
            for (const Local l : chosen(set)) out.push_back(l);
        }
    }
    void minutes_of(LocalDay day, std::vector<Local>& out) const {
        const std::int64_t first = floor_div(start.time_since_epoch().count(), 60);
        for (int m = 0; m < 1440; ++m) {
            if ((day.time_since_epoch().count() * 1440 + m - first) % rule.interval != 0) continue;
            if (!rule.hours.empty() && !has(rule.hours, m / 60)) continue;
            if (!rule.minutes.empty() && !has(rule.minutes, m % 60)) continue;
            for (const Local l : chosen({Local{day} + hm(0, m)})) out.push_back(l);
        }
    }
};

}  // namespace

std::vector<Local> Definition::occurrences(LocalDay from, LocalDay to) const {
    const Meaning meaning(*this);
    std::vector<Local> out;
    std::vector<Local> set;  // occurrences of the current period, for BYSETPOS
    std::optional<std::int64_t> period;
    const auto finish = [&] {
        if (period && (*period - meaning.first_period()) % interval == 0)
            for (const Local l : meaning.chosen(set)) out.push_back(l);
        set.clear();
    };
    // go through whole periods around the range; a year that is counted in weeks may begin or end some days
    // outside the calendar year
    const Days around{unit == Unit::year ? 380 : unit == Unit::month ? 32 : 8};
    for (LocalDay day = from - around; day < to + around; day += Days{1}) {
        if (unit <= Unit::hour) {
            if (meaning.on(day))
                unit == Unit::hour ? meaning.hours_of(day, out) : meaning.minutes_of(day, out);
            continue;
        }
        if (const std::int64_t now = meaning.period(day); now != period) {
            finish();
            period = now;
        }
        if (!meaning.on(day)) continue;
        for (const int h : meaning.rule.hours)
            for (const int m : meaning.rule.minutes) set.push_back(Local{day} + hm(h, m));
    }
    std::sort(out.begin(), out.end());
    std::erase_if(out, [&](Local l) { return l < Local{from} || l >= Local{to} || (start && l < *start); });
    return out;
}

std::vector<LocalDay> days_of(const std::vector<Local>& occurrences) {
    std::vector<LocalDay> out;
    for (const Local l : occurrences)
        if (const auto day = std::chrono::floor<Days>(l); out.empty() || out.back() != day)
            out.push_back(day);
    return out;
}

std::string Definition::text() const {
    std::string out;
    if (start) {
        const auto t = test::text(*start);  // such as 2026-01-05 08:00
        out = "DTSTART:" + t.substr(0, 4) + t.substr(5, 2) + t.substr(8, 2) + "T" + t.substr(11, 2) +
              t.substr(14, 2) + "00 ";
    }
    out += std::string("FREQ=") + kFreqs[static_cast<int>(unit)];
    if (interval > 1) out += ";INTERVAL=" + std::to_string(interval);
    const auto add = [&](const char* name, const std::vector<int>& list) {
        for (std::size_t i = 0; i < list.size(); ++i)
            out += (i == 0 ? std::string(";") + name + "=" : std::string(",")) + std::to_string(list[i]);
    };
    add("BYMONTH", months);
    add("BYWEEKNO", weeks);
    add("BYYEARDAY", year_days);
    add("BYMONTHDAY", month_days);
    for (std::size_t i = 0; i < week_days.size(); ++i)
        out += (i == 0 ? std::string(";BYDAY=") : std::string(",")) +
               (week_days[i].first != 0 ? std::to_string(week_days[i].first) : std::string()) +
               kWeekdays[week_days[i].second];
    add("BYHOUR", hours);
    add("BYMINUTE", minutes);
    add("BYSETPOS", positions);
    if (week_start != 1) out += std::string(";WKST=") + kWeekdays[week_start];
    return out;
}

Definition random_definition(Random& random, Unit finest) {
    const auto one_in = [&](int n) { return pick(random, 1, n) == 1; };
    const auto some = [&](int most, int low, int high, bool negative) {
        std::vector<int> out;
        for (int i = pick(random, 1, most); i > 0; --i)
            out.push_back(pick(random, low, high) * (negative && one_in(2) ? -1 : 1));
        return out;
    };
    Definition d;
    d.unit = static_cast<Unit>(pick(random, static_cast<int>(finest), static_cast<int>(Unit::year)));
    if (one_in(3))
        d.interval = pick(random, 2, d.unit == Unit::minute ? 3000 : d.unit == Unit::hour ? 40 : 5);
    if (one_in(2))
        d.start =
            local("2018-01-01") + Days{pick(random, 0, 1500)} + hm(pick(random, 0, 23), pick(random, 0, 59));
    if (one_in(3)) d.months = some(3, 1, 12, false);
    const bool year = d.unit == Unit::year;
    if (year && one_in(4)) d.weeks = some(3, 1, 53, true);
    if ((year || d.unit <= Unit::hour) && one_in(5)) d.year_days = some(8, 1, 366, true);
    if (d.unit != Unit::week && one_in(3)) d.month_days = some(5, 1, 31, true);
    if (one_in(2)) {
        const bool numbered = (year || d.unit == Unit::month) && d.weeks.empty() && one_in(2);
        const int most = year && d.months.empty() ? 53 : 5;
        for (int i = pick(random, 1, 3); i > 0; --i)
            d.week_days.emplace_back(numbered && one_in(2) ? pick(random, 1, most) * (one_in(2) ? 1 : -1) : 0,
                                     static_cast<unsigned>(pick(random, 0, 6)));
    }
    if (one_in(4)) d.hours = some(3, 0, 23, false);
    if (one_in(6)) d.minutes = some(2, 0, 59, false);
    const bool by = !d.months.empty() || !d.weeks.empty() || !d.year_days.empty() || !d.month_days.empty() ||
                    !d.week_days.empty() || !d.hours.empty() || !d.minutes.empty();
    if (by && one_in(4)) d.positions = some(2, 1, 4, true);
    if (one_in(4)) d.week_start = static_cast<unsigned>(pick(random, 0, 6));
    return d;
}

}  // namespace pbs::rrule::test
