#include "rrule/opening_days.h"

#include <algorithm>

#include "tests/rrule/cases.h"
#include "tests/rrule/definition.h"
#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

using Days = std::chrono::days;

constexpr int kDay = 86400;

// Returns the intervals in which a window is open, from some days before `from` to some days after `to`.
// Intervals that touch are joined.
std::vector<Interval> openings(const Window& window, const NonWorkDays& holidays, Instant from, Instant to) {
    std::vector<Interval> all;
    window.expand(LocalDay{std::chrono::floor<Days>(from).time_since_epoch()} - Days{3},
                  LocalDay{std::chrono::floor<Days>(to).time_since_epoch()} + Days{3}, holidays, all);
    return joined(all);
}

struct Tally {
    int asked = 0;
    int answered = 0;
};

// Compares every answer that the table has for the instant t with `list`, the intervals in which the window
// is open.
void ask(const OpeningDays& table, const std::vector<Interval>& list, Instant t, Tally& tally) {
    const auto next =
        std::find_if(list.begin(), list.end(), [t](const Interval& part) { return part.end > t; });
    const bool inside = next != list.end() && next->start <= t;
    ++tally.asked;
    if (const auto answer = table.contains(t)) {
        ++tally.answered;
        ASSERT_EQ(*answer, inside) << text(t);
    }
    if (const auto answer = table.next_change(t)) {
        ASSERT_NE(next, list.end()) << text(t);
        ASSERT_TRUE(same(*answer, inside ? next->end : next->start)) << text(t);
    }
}

TEST(OpeningDays, AnswersAreThoseOfTheList) {
    Random random(31);
    const char* const zones[] = {
        "UTC",          "America/Los_Angeles", "Australia/Lord_Howe", "Asia/Kathmandu",
        "Pacific/Apia", "Africa/Casablanca",   "America/Sao_Paulo",   "Europe/Berlin",
        "Pacific/Niue", "Pacific/Kiritimati",  "America/Caracas",     "Asia/Tehran"};
    const std::vector<std::string> entries{"FREQ=MONTHLY;BYMONTHDAY=13"};
    Tally all;
    for (int i = 0; i < cases(200); ++i) {
        const Zone z = zone(zones[static_cast<std::size_t>(pick(random, 0, std::size(zones) - 1))]);
        Definition rule = random_definition(random);
        if (pick(random, 0, 2) != 0) rule = {};
        // choose times to the second, or whole days that follow one another without a gap
        const int start = pick(random, 0, 3) == 0 ? 0 : pick(random, 0, kDay - 1);
        const int end = pick(random, 0, 3) == 0 ? std::max(1, start) : pick(random, 0, kDay);
        rule.at = Seconds{start};
        const auto window =
            Window::make({rule.text(), Seconds{start}, Seconds{end}, pick(random, 0, 1) == 0}, z);
        if (!window) continue;
        const NonWorkDays holidays = *NonWorkDays::parse(entries, z);
        const Instant now = utc("2009-06-01") + Seconds{pick(random, 0, 20 * 365 * kDay)};
        const OpeningDays table(*window, holidays, now);
        const auto list = openings(*window, holidays, now - Days{40}, now + Days{420});
        SCOPED_TRACE(rule.text() + ' ' + std::to_string(start) + '-' + std::to_string(end) + ' ' + z.name() +
                     ' ' + text(now));
        Tally tally;
        for (int n = 0; n < 300; ++n)
            ask(table, list, now - Days{11} + Seconds{pick(random, 0, 366 * kDay)}, tally);
        for (const Interval& part : list)
            for (const Instant t : {part.start - Seconds{1}, part.start, part.end - Seconds{1}, part.end})
                ask(table, list, t, tally);
        if (HasFatalFailure()) return;
        all.asked += tally.asked;
        all.answered += tally.answered;
    }
    EXPECT_GT(all.answered, all.asked / 10 * 7);
}

// The table is made for one year. It has no answers outside this year, or near a change of the clock.
TEST(OpeningDays, NothingIsAnsweredNearAChangeOfTheClockOrOutside) {
    const Window window = test::window("FREQ=DAILY", hm(8), hm(17), zone("Europe/Berlin"));
    const OpeningDays table(window, {}, utc("2026-01-15"));
    EXPECT_EQ(table.contains(utc("2026-03-26 10:00")), true);
    for (const char* day : {"2026-03-27 10:00", "2026-03-29 01:30", "2026-03-31 10:00", "2025-12-31 10:00",
                            "2027-02-01 10:00", "1970-01-02", "9999-12-31"}) {
        EXPECT_EQ(table.contains(utc(day)), std::nullopt) << day;
        EXPECT_EQ(table.next_change(utc(day)), std::nullopt) << day;
    }
    EXPECT_EQ(table.contains(utc("2026-04-01 16:00")), false);
    EXPECT_EQ(table.next_change(utc("2026-03-26 16:00")), std::nullopt) << "on the 27th";

    const OpeningDays none;
    EXPECT_FALSE(none.covers(utc("1970-01-01")));
    EXPECT_EQ(none.contains(utc("1970-01-01")), std::nullopt);
    // there is no table for a zone that has more than two changes of the clock in the year, or whose offset
    // isn't a multiple of a quarter of an hour
    EXPECT_EQ(
        OpeningDays(test::window("FREQ=DAILY", hm(8), hm(17), zone("Africa/Cairo")), {}, utc("2014-01-15"))
            .contains(utc("2014-02-01")),
        std::nullopt);
    EXPECT_EQ(
        OpeningDays(test::window("FREQ=DAILY", hm(8), hm(17), zone("Europe/Berlin")), {}, utc("1890-01-15"))
            .contains(utc("1890-02-01")),
        std::nullopt);
}

TEST(OpeningDays, AtTheEndsOfTheCalendar) {
    const WindowSet set({window("FREQ=DAILY", hm(22), hm(6), Zone::utc())});
    EXPECT_TRUE(set.contains(utc("9999-12-31 23:00")));
    EXPECT_EQ(set.next_change(utc("9999-12-31 23:00")), std::nullopt);
    EXPECT_EQ(text(set.next_change(utc("9999-12-30 23:00"))), "9999-12-31 06:00");
    EXPECT_TRUE(set.contains(utc("1601-01-01 05:00")));
    EXPECT_EQ(text(set.next_change(utc("1601-01-01"))), "1601-01-01 06:00");
}

// A set makes its table for the year about which it is asked. A single question about another year doesn't
// replace the table.
TEST(OpeningDays, ASetFollowsTheTimeThatIsAskedFor) {
    const Window nights = window("FREQ=WEEKLY;BYDAY=MO,TU", hm(22), hm(6), zone("America/Los_Angeles"));
    const WindowSet set({nights});
    const WindowSet both({nights, nights});  // a set of two windows has a list of intervals, not a table
    Random random(4);
    Instant now = utc("2026-01-01");
    for (int i = 0; i < 4000; ++i) {
        now += Seconds{pick(random, 0, 2 * kDay)};
        const Instant t = pick(random, 0, 9) == 0 ? utc("1980-01-01") + Days{pick(random, 0, 40000)} : now;
        ASSERT_EQ(set.contains(t), both.contains(t)) << text(t);
        ASSERT_TRUE(same(set.next_change(t), both.next_change(t))) << text(t);
        ASSERT_EQ(set.at_or_after(t), both.at_or_after(t)) << text(t);
    }
}

}  // namespace
}  // namespace pbs::rrule::test
