#include "rrule/overlap.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

struct Pair {
    const char* rule_a;
    Seconds start_a, end_a;
    const char* rule_b;
    Seconds start_b, end_b;
    const char* overlap;  // first overlap, in UTC, from 2026-01-01 on, or "never"
};

TEST(Overlap, OverlapsAreFoundToTheSecond) {
    const Pair pairs[] = {
        {"FREQ=DAILY", hm(8), hm(12), "FREQ=DAILY", hm(12), hm(17), "never"},
        {"FREQ=DAILY", hm(8), hm(12), "FREQ=DAILY", hm(11, 59), hm(17), "2026-01-01 11:59"},
        {"FREQ=WEEKLY;BYDAY=MO", hm(8), hm(12), "FREQ=WEEKLY;BYDAY=TU", hm(8), hm(12), "never"},
        {"FREQ=WEEKLY;BYDAY=MO", hm(22), hm(6), "FREQ=WEEKLY;BYDAY=TU", hm(5), hm(12), "2026-01-06 05:00"},
        {"FREQ=WEEKLY;BYDAY=MO", hm(22), hm(6), "FREQ=WEEKLY;BYDAY=TU", hm(6), hm(12), "never"},
        {"FREQ=WEEKLY;BYDAY=MO;INTERVAL=2", hm(8), hm(9), "FREQ=WEEKLY;BYDAY=MO;INTERVAL=3", hm(8), hm(9),
         "2026-01-05 08:00"},
        // the first window is open every second week, the other one in the weeks between
        {"DTSTART:20260105 FREQ=WEEKLY;INTERVAL=2", hm(8), hm(9), "DTSTART:20260112 FREQ=WEEKLY;INTERVAL=2",
         hm(8), hm(9), "never"},
        {"DTSTART:20260101 FREQ=DAILY;INTERVAL=7", hm(8), hm(9), "DTSTART:20260102 FREQ=DAILY;INTERVAL=11",
         hm(8), hm(9), "2026-02-26 08:00"},
        // the windows overlap only when 29 February is a Sunday, years ahead
        {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", hm(8), hm(9), "FREQ=WEEKLY;BYDAY=SU", hm(8), hm(9),
         "2032-02-29 08:00"},
        // 1 January of the years 2100, 2200 and so on is never a Sunday; the cycle of 400 years shows this
        {"DTSTART:21000101 FREQ=YEARLY;INTERVAL=100", hm(8), hm(9), "FREQ=WEEKLY;BYDAY=SU", hm(8), hm(9),
         "never"},
        {"DTSTART:21000101 FREQ=YEARLY;INTERVAL=100", hm(8), hm(9), "FREQ=WEEKLY;BYDAY=SA", hm(8), hm(9),
         "2400-01-01 08:00"},
        // windows whose rules end
        {"FREQ=DAILY;UNTIL=20260110", hm(8), hm(12), "DTSTART:20260111 FREQ=DAILY", hm(8), hm(12), "never"},
        {"FREQ=DAILY;UNTIL=20260111", hm(8), hm(12), "DTSTART:20260111 FREQ=DAILY", hm(8), hm(12),
         "2026-01-11 08:00"},
        {"RDATE:20400704", hm(8), hm(12), "FREQ=DAILY", hm(11), hm(12), "2040-07-04 11:00"},
        {"RDATE:20200704", hm(8), hm(12), "FREQ=DAILY", hm(11), hm(12), "never"},
        {"FREQ=DAILY EXDATE:20260101,20260102", hm(8), hm(12), "FREQ=DAILY", hm(9), hm(10),
         "2026-01-03 09:00"},
        {"FREQ=MONTHLY;BYMONTHDAY=13", hm(0), hm(24), "FREQ=WEEKLY;BYDAY=FR", hm(0), hm(24),
         "2026-02-13 00:00"},
        {"FREQ=DAILY", hm(8), hm(8), "FREQ=DAILY", hm(7), hm(7, 30), "2026-01-01 07:00"},
    };
    for (const Pair& p : pairs) {
        const Window a = window(p.rule_a, p.start_a, p.end_a, Zone::utc());
        const Window b = window(p.rule_b, p.start_b, p.end_b, Zone::utc());
        EXPECT_EQ(text(first_overlap(a, b, utc("2026-01-01"))), p.overlap) << p.rule_a << " | " << p.rule_b;
        EXPECT_EQ(text(first_overlap(b, a, utc("2026-01-01"))), p.overlap) << p.rule_b << " | " << p.rule_a;
    }
}

TEST(Overlap, EndsWhenItIsTold) {
    const NonWorkDays none;
    const std::vector<Window> windows = {window("FREQ=DAILY", hm(8), hm(9), Zone::utc()),
                                         window("FREQ=DAILY", hm(8), hm(9), Zone::utc())};
    const std::vector<std::size_t> changed = {0, 1};
    std::atomic<bool> end = false;
    OverlapSearch search(none, utc("2026-01-01"), OverlapSearch::kLongWork, &end);
    EXPECT_TRUE(search.of(windows, changed));
    EXPECT_FALSE(search.gave_up());
    end = true;
    EXPECT_FALSE(search.of(windows, changed));
    EXPECT_TRUE(search.gave_up());
}

TEST(Overlap, InsideOneStartsAtTheTimeAsked) {
    const Window a = window("FREQ=DAILY", hm(8), hm(12), Zone::utc());
    EXPECT_EQ(text(first_overlap(a, a, utc("2026-01-01 09:30"))), "2026-01-01 09:30");
    EXPECT_EQ(text(first_overlap(a, a, utc("2026-01-01 12:00"))), "2026-01-02 08:00");
}

TEST(Overlap, DisjointOnTheWallClockIsDisjointInTime) {
    const Zone la = zone("America/Los_Angeles");
    const Window a = window("FREQ=WEEKLY;BYDAY=SU", hm(1), hm(2, 30), la);
    const Window b = window("FREQ=WEEKLY;BYDAY=SU", hm(2, 30), hm(5), la);
    EXPECT_EQ(first_overlap(a, b, utc("2026-01-01")), std::nullopt);
    // both windows are open only between 02:15 and 02:30, which the clock skips on the first of these Sundays
    const Window c = window("FREQ=WEEKLY;BYDAY=SU", hm(2, 15), hm(5), la);
    EXPECT_EQ(text(first_overlap(a, c, utc("2026-03-08 08:00"))), "2026-03-15 09:15");
    // both windows are open only in an hour that the clock skips each year, so they never overlap
    const Window d = window("FREQ=YEARLY;BYMONTH=3;BYDAY=2SU", hm(2, 15), hm(2, 30), la);
    EXPECT_EQ(first_overlap(a, d, utc("2026-01-01")), std::nullopt);
}

TEST(Overlap, AcrossZones) {
    // 17:00 in Berlin is 08:00 in Los Angeles; it is 09:00 in the weeks when only Los Angeles has changed its
    // clock
    const Window berlin = window("FREQ=DAILY", hm(16), hm(17), zone("Europe/Berlin"));
    const Window la = window("FREQ=DAILY", hm(8), hm(9), zone("America/Los_Angeles"));
    EXPECT_EQ(text(first_overlap(berlin, la, utc("2026-01-01"))), "2026-03-08 15:00");
    // India's clock never changes, and its offset has an odd half hour: the windows never overlap
    const Window kolkata = window("FREQ=DAILY", hm(8), hm(9), zone("Asia/Kolkata"));
    EXPECT_EQ(first_overlap(kolkata, la, utc("2026-01-01")), std::nullopt);
}

TEST(Overlap, NonWorkDaysCount) {
    const std::vector<std::string> entries{"12/25", "12/26"};
    const NonWorkDays holidays = *NonWorkDays::parse(entries, Zone::utc());
    const Instant from = utc("2026-01-01");
    const Window office = window("FREQ=DAILY", hm(8), hm(17), Zone::utc(), false);
    const Window christmas = window("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25", hm(8), hm(9), Zone::utc());
    EXPECT_EQ(text(first_overlap(office, christmas, from)), "2026-12-25 08:00");
    EXPECT_EQ(first_overlap(office, christmas, from, holidays), std::nullopt);
    const Window days = window("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25,26,27", hm(8), hm(9), Zone::utc());
    EXPECT_EQ(text(first_overlap(office, days, from, holidays)), "2026-12-27 08:00");
    // a window that is open only on holidays never overlaps a window that isn't open on holidays, whatever
    // days the holidays are
    const auto other = Window::make({"FREQ=DAILY", hm(10), hm(14), true, true}, Zone::utc());
    ASSERT_TRUE(other);
    EXPECT_EQ(first_overlap(office, *other, from), std::nullopt);
    EXPECT_EQ(first_overlap(office, *other, from, holidays), std::nullopt);
    EXPECT_EQ(text(first_overlap(*other, window("FREQ=DAILY", hm(8), hm(17), Zone::utc()), from, holidays)),
              "2026-12-25 10:00");
    // The day on which a window opens decides. The night of 24 December, which is no holiday, lasts until its
    // end on the 25th, a holiday.
    const Window night = window("FREQ=DAILY", hm(22), hm(12), Zone::utc(), false);
    EXPECT_EQ(text(first_overlap(night, *other, from, holidays)), "2026-12-25 10:00");
    const std::vector<std::string> one{"12/25/2026", "12/24/2026"};
    const NonWorkDays eve = *NonWorkDays::parse(one, Zone::utc());
    EXPECT_EQ(text(first_overlap(night, *other, utc("2026-12-24 12:00"), eve)), "never");
}

TEST(Overlap, AWindowThatOpensOnNonWorkDaysOnlyNeverOpensWithoutThem) {
    const auto only = Window::make({"FREQ=DAILY", hm(10), hm(14), true, true}, Zone::utc());
    ASSERT_TRUE(only);
    EXPECT_EQ(WindowSet({*only}).next_change(utc("2026-01-01")), std::nullopt);
    const std::vector<std::string> entries{"12/25"};
    const WindowSet set({*only}, *NonWorkDays::parse(entries, Zone::utc()));
    EXPECT_EQ(text(set.next_change(utc("2026-01-01"))), "2026-12-25 10:00");
    EXPECT_FALSE(Window::make({"FREQ=DAILY", hm(10), hm(14), false, true}, Zone::utc()));
}

TEST(Overlap, BetweenYearsAndOverMidnight) {
    const Window eve = window("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31", hm(22), hm(6), Zone::utc());
    const Window new_year =
        window("FREQ=YEARLY;INTERVAL=3;BYMONTH=1;BYMONTHDAY=1", hm(5), hm(6), Zone::utc());
    EXPECT_EQ(text(first_overlap(eve, new_year, utc("2026-02-01"))), "2027-01-01 05:00");
    EXPECT_EQ(text(first_overlap(new_year, eve, utc("2027-02-01"))), "2030-01-01 05:00");
}

// The search counts its steps. For windows with the same times on different days, it takes few.
TEST(Overlap, TakesLittleWork) {
    const NonWorkDays none;
    const auto work_for = [&](const std::vector<Window>& windows) {
        OverlapSearch search(none, utc("2026-01-01"));
        const std::size_t changed[] = {0};
        EXPECT_FALSE(search.of(windows, changed));
        return search.work();
    };
    std::vector<Window> yearly;
    std::vector<Window> turns;
    for (int i = 0; i < 300; ++i) {
        yearly.push_back(window(
            "FREQ=YEARLY;BYMONTH=" + std::to_string(i / 28 + 1) + ";BYMONTHDAY=" + std::to_string(i % 28 + 1),
            hm(8), hm(9), zone("Europe/Vienna")));
        const std::string first = text(Local{day("2026-01-01") + std::chrono::days(i)});
        turns.push_back(window("DTSTART:" + first.substr(0, 4) + first.substr(5, 2) + first.substr(8, 2) +
                                   " FREQ=DAILY;INTERVAL=300",
                               hm(8), hm(9), Zone::utc()));
    }
    std::vector<Window> weeks;
    for (int week = 1; week <= 53; ++week)
        weeks.push_back(window(
            "FREQ=YEARLY;INTERVAL=" + std::to_string(1 + week % 2 * 6) + ";BYWEEKNO=" + std::to_string(week),
            hm(8), hm(9), Zone::utc()));
    EXPECT_EQ(work_for(yearly), 0U);
    EXPECT_EQ(work_for(turns), 0U);
    EXPECT_EQ(work_for(weeks), 0U);
    // day 60 of the year is 1 March only in years that aren't leap years, and day 61 only in leap years
    EXPECT_EQ(
        work_for({window("FREQ=YEARLY;BYYEARDAY=60", hm(8), hm(9), Zone::utc(), false),
                  window("FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=1;BYYEARDAY=61", hm(8), hm(9), Zone::utc())}),
        0U);
}

TEST(Overlap, ListsNameTheEarliestPair) {
    const std::vector<Window> windows{
        window("FREQ=WEEKLY;BYDAY=MO", hm(8), hm(12), Zone::utc()),
        window("FREQ=WEEKLY;BYDAY=TU", hm(8), hm(12), Zone::utc()),
        window("FREQ=MONTHLY;BYMONTHDAY=24", hm(11), hm(13), Zone::utc()),
        window("FREQ=WEEKLY;BYDAY=TU", hm(11, 30), hm(13), Zone::utc()),
    };
    const NonWorkDays none;
    const std::size_t all[] = {0, 1, 2, 3};
    const auto found = OverlapSearch(none, utc("2026-11-21")).of(windows, all);
    ASSERT_TRUE(found);
    EXPECT_EQ(text(found->at), "2026-11-24 11:00");
    EXPECT_EQ(found->first, 1U);
    EXPECT_EQ(found->second, 2U);
    EXPECT_FALSE(
        OverlapSearch(none, utc("2026-11-21")).of(std::span(windows).first(2), std::span(all).first(2)));
    // of() compares the windows whose indices it gets, here the first, with all others
    const std::size_t first[] = {0};
    const auto later = OverlapSearch(none, utc("2026-01-01")).of(windows, first);
    ASSERT_TRUE(later);
    EXPECT_EQ(text(later->at), "2026-08-24 11:00");
    EXPECT_EQ(later->first, 0U);
    EXPECT_EQ(later->second, 2U);
}

}  // namespace
}  // namespace pbs::rrule::test
