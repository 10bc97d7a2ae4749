// Differential tests against brute force: rules day by day from their definition, windows minute by minute.
#include <random>

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

using std::chrono::days;
using std::chrono::year_month_day;
using Random = std::mt19937;

int pick(Random& random, int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
}

unsigned weekday(LocalDay d) {
    return std::chrono::weekday{d}.c_encoding();
}
const char* kDays[] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};

// ---- MONTHLY and YEARLY rules, which libical expands -------------------------------------------------

// One rule, with what it means said day by day (RFC 5545 3.3.10, the table of BY parts).
struct DayRule {
    bool yearly = false;
    int interval = 1;
    std::vector<int> months, month_days;
    std::vector<std::pair<int, unsigned>> week_days;  // ordinal, weekday
    std::vector<int> positions;

    std::string text() const {
        std::string out = yearly ? "FREQ=YEARLY" : "FREQ=MONTHLY";
        if (interval > 1) out += ";INTERVAL=" + std::to_string(interval);
        const auto add = [&](const char* name, const std::vector<int>& list) {
            for (std::size_t i = 0; i < list.size(); ++i)
                out += (i == 0 ? std::string(";") + name + "=" : std::string(",")) + std::to_string(list[i]);
        };
        add("BYMONTH", months);
        add("BYMONTHDAY", month_days);
        for (std::size_t i = 0; i < week_days.size(); ++i)
            out += (i == 0 ? std::string(";BYDAY=") : std::string(",")) +
                   (week_days[i].first != 0 ? std::to_string(week_days[i].first) : std::string()) +
                   kDays[week_days[i].second];
        add("BYSETPOS", positions);
        return out;
    }

    bool month_day(const year_month_day& d) const {
        const int last =
            static_cast<int>(static_cast<unsigned>((d.year() / d.month() / std::chrono::last).day()));
        const int n = static_cast<int>(static_cast<unsigned>(d.day()));
        return month_days.empty() || std::any_of(month_days.begin(), month_days.end(),
                                                 [&](int m) { return m > 0 ? m == n : last + 1 + m == n; });
    }

    bool week_day(LocalDay day, const year_month_day& d) const {
        if (week_days.empty()) return true;
        const bool of_month = !yearly || !months.empty();
        const LocalDay first = of_month ? LocalDay{d.year() / d.month() / 1} : LocalDay{d.year() / 1 / 1};
        const LocalDay last =
            of_month ? LocalDay{d.year() / d.month() / std::chrono::last} : LocalDay{d.year() / 12 / 31};
        const auto from_start = static_cast<int>((day - first).count() / 7 + 1);
        const auto from_end = -static_cast<int>((last - day).count() / 7 + 1);
        return std::any_of(week_days.begin(), week_days.end(), [&](const auto& w) {
            return w.second == weekday(day) && (w.first == 0 || w.first == from_start || w.first == from_end);
        });
    }

    // The days of the period (month or year) that begins on `first`.
    std::vector<LocalDay> period(LocalDay first, LocalDay end) const {
        std::vector<LocalDay> set;
        for (LocalDay day = first; day < end; day += days{1}) {
            const year_month_day d{day};
            const bool month = months.empty() ||
                               std::find(months.begin(), months.end(),
                                         static_cast<int>(static_cast<unsigned>(d.month()))) != months.end();
            if (month && month_day(d) && week_day(day, d)) set.push_back(day);
        }
        if (positions.empty()) return set;
        std::vector<LocalDay> chosen;
        for (std::size_t i = 0; i < set.size(); ++i)
            for (const int p : positions)
                if (p == static_cast<int>(i) + 1 || p == static_cast<int>(i) - static_cast<int>(set.size())) {
                    chosen.push_back(set[i]);
                    break;
                }
        return chosen;
    }

    std::vector<LocalDay> between(int first_year, int last_year) const {
        std::vector<LocalDay> out;
        for (int y = first_year; y <= last_year; ++y) {
            const auto year = std::chrono::year{y};
            for (unsigned m = 1; m <= (yearly ? 1U : 12U); ++m) {
                const int unit = yearly ? y - 1601 : (y - 1601) * 12 + static_cast<int>(m) - 1;
                if (unit % interval != 0) continue;
                const LocalDay first{year / std::chrono::month{m} / 1};
                const LocalDay end =
                    yearly ? LocalDay{(year + std::chrono::years{1}) / 1 / 1}
                           : LocalDay{year / std::chrono::month{m} / std::chrono::last} + days{1};
                const auto some = period(first, end);
                out.insert(out.end(), some.begin(), some.end());
            }
        }
        return out;
    }
};

DayRule random_rule(Random& random) {
    DayRule rule;
    rule.yearly = pick(random, 0, 1) == 1;
    rule.interval = pick(random, 0, 2) == 0 ? pick(random, 2, 5) : 1;
    if (pick(random, 0, 1) == 0)
        for (int i = pick(random, 1, 3); i > 0; --i) rule.months.push_back(pick(random, 1, 12));
    const int kind = pick(random, 0, 2);
    if (kind != 1)
        for (int i = pick(random, 1, 4); i > 0; --i)
            rule.month_days.push_back(pick(random, 0, 1) ? pick(random, 1, 31) : -pick(random, 1, 31));
    if (kind != 0)
        for (int i = pick(random, 1, 3); i > 0; --i) {
            const bool numbered = kind == 1 && pick(random, 0, 1) == 1;
            const int ordinal = numbered ? pick(random, 1, 4) * (pick(random, 0, 1) ? 1 : -1) : 0;
            rule.week_days.emplace_back(ordinal, static_cast<unsigned>(pick(random, 0, 6)));
        }
    if (pick(random, 0, 3) == 0)
        rule.positions = {pick(random, 0, 1) ? pick(random, 1, 3) : -pick(random, 1, 3)};
    return rule;
}

TEST(Oracle, CalendarRulesAgreeWithTheirDefinition) {
    Random random(20260101);
    int compared = 0;
    for (int i = 0; i < 600; ++i) {
        const DayRule definition = random_rule(random);
        const auto expected = definition.between(2019, 2031);
        const auto rule = Recurrence::parse(definition.text(), Zone::utc());
        if (!rule) {
            EXPECT_TRUE(expected.empty()) << definition.text() << ": " << rule.error().message;
            continue;
        }
        ++compared;
        EXPECT_EQ(text(rule->days(day("2019-01-01"), day("2032-01-01"))), text(expected))
            << definition.text();
    }
    EXPECT_GT(compared, 400);
}

TEST(Oracle, WeekNumbersAgreeWithTheirDefinition) {
    // A week belongs to the year that holds its fourth day (RFC 5545 3.3.10, ISO 8601 with WKST=MO).
    for (const int number : {1, 2, 20, 51, 52, 53, -1, -2}) {
        for (const unsigned start : {1U, 0U}) {
            std::vector<LocalDay> expected;
            for (LocalDay week = day("1998-12-20"); week < day("2032-02-01"); week += days{1}) {
                if (weekday(week) != start) continue;
                const auto year = year_month_day{week + days{3}}.year();
                const int n = static_cast<int>((week + days{3} - LocalDay{year / 1 / 1}).count() / 7 + 1);
                int weeks = 0;
                for (LocalDay d{year / 1 / 1}; year_month_day{d}.year() == year; d += days{1})
                    weeks += weekday(d) == (start + 3) % 7 ? 1 : 0;
                if (n != (number > 0 ? number : weeks + 1 + number)) continue;
                for (LocalDay d = week; d < week + days{7}; d += days{1})
                    if (weekday(d) == 1 || weekday(d) == 4)
                        if (d >= day("2000-01-01") && d < day("2031-01-01")) expected.push_back(d);
            }
            const std::string text =
                "FREQ=YEARLY;BYDAY=MO,TH;BYWEEKNO=" + std::to_string(number) + ";WKST=" + kDays[start];
            const auto rule = Recurrence::parse(text, Zone::utc());
            ASSERT_TRUE(rule) << text;
            EXPECT_EQ(test::text(rule->days(day("2000-01-01"), day("2031-01-01"))), test::text(expected))
                << text;
        }
    }
}

// ---- windows, minute by minute -----------------------------------------------------------------------

struct WindowCase {
    std::vector<bool> weekdays;  // Sunday first
    int interval = 1;            // in days, from 1601-01-01
    int start = 0, end = 0;      // minutes
    bool on_holidays = true;
    int holiday_month_day = 0;  // this day of every month is a holiday

    std::string rule() const {
        std::string out = "FREQ=DAILY;INTERVAL=" + std::to_string(interval) + ";BYDAY=";
        bool first = true;
        for (unsigned i = 0; i < 7; ++i)
            if (weekdays[i]) {
                out += std::string(first ? "" : ",") + kDays[i];
                first = false;
            }
        return out;
    }

    bool starts_on(LocalDay d) const {
        if (!weekdays[weekday(d)] || (d.time_since_epoch().count() + 134774) % interval != 0) return false;
        return on_holidays ||
               static_cast<int>(static_cast<unsigned>(year_month_day{d}.day())) != holiday_month_day;
    }

    // Whether the window is open at t, from what clocks on the wall have shown: it has passed the start on
    // some start day, and not yet the end. `passed(l)` is whether the clock has shown l or more by now.
    template <class Passed>
    bool open(LocalDay today, const Passed& passed) const {
        const int length = end > start ? end : end + 1440;
        for (LocalDay d = today - days{2}; d <= today + days{1}; d += days{1}) {
            if (!starts_on(d)) continue;
            if (passed(Local{d} + hm(0, start)) && !passed(Local{d} + hm(0, length))) return true;
        }
        return false;
    }
};

WindowCase random_window(Random& random) {
    WindowCase w;
    w.weekdays.resize(7);
    for (unsigned i = 0; i < 7; ++i) w.weekdays[i] = pick(random, 0, 2) > 0;
    w.weekdays[static_cast<std::size_t>(pick(random, 0, 6))] = true;
    w.interval = pick(random, 1, 3);
    // Near the hours at which clocks change, more often than not.
    w.start = pick(random, 0, 1) ? pick(random, 0, 300) : pick(random, 0, 1439);
    w.end = pick(random, 0, 1) ? pick(random, 0, 300) : pick(random, 0, 1440);
    w.on_holidays = pick(random, 0, 1) == 1;
    w.holiday_month_day = pick(random, 1, 28);
    return w;
}

struct Stretch {
    const char* zone;
    const char* from;  // UTC, around a change of the clock
};

TEST(Oracle, WindowsAgreeMinuteByMinute) {
    const Stretch stretches[] = {
        {"America/Los_Angeles", "2026-03-06"}, {"America/Los_Angeles", "2026-10-30"},
        {"Europe/Berlin", "2026-03-27"},       {"Europe/Berlin", "2026-10-23"},
        {"Australia/Lord_Howe", "2026-04-03"}, {"Australia/Lord_Howe", "2026-10-02"},
        {"Asia/Kathmandu", "2024-02-27"},      {"Pacific/Apia", "2011-12-28"},
        {"America/St_Johns", "2028-12-29"},    {"America/Sao_Paulo", "2018-11-02"},
    };
    Random random(7);
    for (const Stretch& stretch : stretches) {
        const Zone z = zone(stretch.zone);
        const Instant from = utc(stretch.from);
        const Instant to = from + days{5};
        for (int i = 0; i < 60; ++i) {
            const WindowCase w = random_window(random);
            const std::vector<std::string> entries{"FREQ=MONTHLY;BYMONTHDAY=" +
                                                   std::to_string(w.holiday_month_day)};
            const WindowSet set({window(w.rule(), hm(0, w.start), hm(0, w.end), z, w.on_holidays)},
                                *NonWorkDays::parse(entries, z));
            // The highest reading so far: a clock that is set back has already passed what it shows again.
            Local highest = z.local(from - days{3});
            for (Instant t = from - days{3}; t < from; t += Seconds{60})
                highest = std::max(highest, z.local(t));
            Seconds inside{0};
            std::optional<Instant> last_change;
            bool last = false;
            for (Instant t = from; t < to; t += Seconds{60}) {
                highest = std::max(highest, z.local(t));
                const bool expected =
                    w.open(std::chrono::floor<days>(z.local(t)), [&](Local l) { return highest >= l; });
                ASSERT_EQ(set.contains(t), expected)
                    << stretch.zone << ' ' << text(t) << ' ' << w.rule() << ' ' << w.start << ' ' << w.end;
                if (t > from && expected != last) {
                    ASSERT_EQ(text(set.next_change(last_change.value_or(from))), text(t)) << w.rule();
                    last_change = t;
                }
                last = expected;
                if (expected) inside += Seconds{60};
            }
            ASSERT_EQ(set.seconds_inside(from, to), inside) << w.rule();
            Seconds sum{0};
            for (const Interval& interval : set.intervals(from, to)) sum += interval.end - interval.start;
            ASSERT_EQ(sum, inside);
        }
    }
}

TEST(Oracle, OverlapsAgreeMinuteByMinute) {
    Random random(11);
    const Zone z = zone("Europe/Berlin");
    const Instant from = utc("2026-03-20");
    int overlapping = 0;
    for (int i = 0; i < 300; ++i) {
        WindowCase a = random_window(random);
        WindowCase b = random_window(random);
        a.on_holidays = b.on_holidays = true;
        const Window wa = window(a.rule(), hm(0, a.start), hm(0, a.end), z);
        const Window wb = window(b.rule(), hm(0, b.start), hm(0, b.end), z);
        const WindowSet sa({wa});
        const WindowSet sb({wb});
        std::optional<Instant> expected;
        // The pattern repeats after 6 weeks at most; a year has both changes of the clock.
        for (Instant t = from; t < from + days{60} && !expected; t += Seconds{60})
            if (sa.contains(t) && sb.contains(t)) expected = t;
        overlapping += expected ? 1 : 0;
        ASSERT_EQ(text(first_overlap(wa, wb, from)), text(expected)) << a.rule() << " | " << b.rule();
    }
    EXPECT_GT(overlapping, 50);
    EXPECT_LT(overlapping, 300);
}

}  // namespace
}  // namespace pbs::rrule::test
