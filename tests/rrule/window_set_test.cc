#include "rrule/window_set.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

// Prime time in these tests: Monday to Friday, 08:00 to 17:00, except on 25 December.
WindowSet prime(const Zone& z) {
    const std::vector<std::string> entries{"12/25"};
    return WindowSet({window("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", hm(8), hm(17), z, false)},
                     *NonWorkDays::parse(entries, z));
}

TEST(WindowSet, PrimeTime) {
    const WindowSet set = prime(Zone::utc());
    EXPECT_FALSE(set.contains(utc("2026-12-24 07:59")));
    EXPECT_TRUE(set.contains(utc("2026-12-24 08:00")));
    EXPECT_TRUE(set.contains(utc("2026-12-24 16:59")));
    EXPECT_FALSE(set.contains(utc("2026-12-24 17:00")));
    EXPECT_FALSE(set.contains(utc("2026-12-25 12:00")));  // a holiday
    EXPECT_FALSE(set.contains(utc("2026-12-26 12:00")));  // a Saturday
    EXPECT_EQ(text(set.next_change(utc("2026-12-24 07:00"))), "2026-12-24 08:00");
    EXPECT_EQ(text(set.next_change(utc("2026-12-24 08:00"))), "2026-12-24 17:00");
    EXPECT_EQ(text(set.next_change(utc("2026-12-24 17:00"))), "2026-12-28 08:00");
    EXPECT_EQ(set.intervals(utc("2026-12-21 09:15"), utc("2026-12-21 10:00")),
              (std::vector<Interval>{{utc("2026-12-21 09:15"), utc("2026-12-21 10:00")}}));
    EXPECT_TRUE(set.intervals(utc("2026-12-21 09:00"), utc("2026-12-21 09:00")).empty());
    EXPECT_TRUE(set.intervals(utc("2026-12-22"), utc("2026-12-21")).empty());
    const auto now = set.at_or_after(utc("2026-12-24 12:00"));
    ASSERT_TRUE(now);
    EXPECT_EQ(text(now->start), "2026-12-24 08:00");
    EXPECT_EQ(text(now->end), "2026-12-24 17:00");
    EXPECT_EQ(text(set.at_or_after(utc("2026-12-24 17:00"))->start), "2026-12-28 08:00");
}

TEST(WindowSet, AcrossAChangeOfTheClock) {
    const WindowSet set = prime(zone("America/Los_Angeles"));
    EXPECT_EQ(text(set.next_change(utc("2026-03-07 12:00"))), "2026-03-09 15:00");
    EXPECT_EQ(text(set.next_change(utc("2026-11-01 12:00"))), "2026-11-02 16:00");
    const WindowSet nights({window("FREQ=DAILY", hm(22), hm(6), zone("America/Los_Angeles"))});
    EXPECT_EQ(nights.intervals(utc("2026-03-08 00:00"), utc("2026-03-08 20:00")),
              (std::vector<Interval>{{utc("2026-03-08 06:00"), utc("2026-03-08 13:00")}}));
    EXPECT_EQ(nights.intervals(utc("2026-11-01 00:00"), utc("2026-11-01 20:00")),
              (std::vector<Interval>{{utc("2026-11-01 05:00"), utc("2026-11-01 14:00")}}));
}

TEST(WindowSet, UnionsAreMerged) {
    const Zone z = Zone::utc();
    const WindowSet set({window("FREQ=DAILY", hm(8), hm(12), z), window("FREQ=DAILY", hm(12), hm(13), z),
                         window("FREQ=DAILY", hm(9), hm(10), z),
                         window("FREQ=WEEKLY;BYDAY=SA", hm(22), hm(2), z)});
    EXPECT_EQ(set.intervals(utc("2026-11-21 09:00"), utc("2026-11-22 12:00")),
              (std::vector<Interval>{{utc("2026-11-21 09:00"), utc("2026-11-21 13:00")},
                                     {utc("2026-11-21 22:00"), utc("2026-11-22 02:00")},
                                     {utc("2026-11-22 08:00"), utc("2026-11-22 12:00")}}));
    EXPECT_EQ(text(set.next_change(utc("2026-11-21 11:00"))), "2026-11-21 13:00");
}

TEST(WindowSet, NoWindows) {
    const WindowSet set;
    EXPECT_TRUE(set.empty());
    EXPECT_FALSE(set.contains(utc("2026-01-01")));
    EXPECT_EQ(set.next_change(utc("2026-01-01")), std::nullopt);
    EXPECT_EQ(set.at_or_after(utc("2026-01-01")), std::nullopt);
    EXPECT_TRUE(set.intervals(utc("2026-01-01"), utc("2027-01-01")).empty());
}

TEST(WindowSet, AlwaysOpenNeverChanges) {
    for (const char* name : {"UTC", "America/Los_Angeles"}) {
        const WindowSet set({window("FREQ=DAILY", hm(0), hm(24), zone(name))});
        EXPECT_TRUE(set.contains(utc("2026-01-01")));
        EXPECT_EQ(set.next_change(utc("2026-01-01")), std::nullopt) << name;
        EXPECT_EQ(set.intervals(utc("2026-01-01"), utc("3026-01-01")),
                  (std::vector<Interval>{{utc("2026-01-01"), utc("3026-01-01")}}));
        EXPECT_EQ(text(set.at_or_after(utc("2026-01-01"))->start), "1601-01-01 00:00");
    }
    // a window that has a beginning
    const WindowSet later({window("DTSTART:20270101 FREQ=DAILY", hm(0), hm(24), Zone::utc())});
    EXPECT_EQ(text(later.next_change(utc("2026-01-01"))), "2027-01-01 00:00");
    EXPECT_EQ(later.next_change(utc("2027-01-01")), std::nullopt);
    EXPECT_EQ(text(later.at_or_after(utc("2500-01-01"))->start), "2027-01-01 00:00");
}

// The first 400 windows of this union together repeat only after many centuries. The last three together are
// always open, so the set needn't compile the others for all time.
TEST(WindowSet, AUnionOfManyThatIsAlwaysOpen) {
    std::vector<Window> windows;
    for (int i = 0; i < 200; ++i) {
        const Zone z = zone(i % 2 == 0 ? "America/Los_Angeles" : "Europe/Berlin");
        windows.push_back(window("FREQ=DAILY;INTERVAL=" + std::to_string(i + 301), hm(8), hm(9), z));
        windows.push_back(window("FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=4", hm(8, i % 60), hm(20), z));
    }
    std::uint64_t before = 0;
    for (const Window& w : windows) before += w.recurrence().steps();
    windows.push_back(window("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", hm(0), hm(24), zone("America/Los_Angeles")));
    windows.push_back(window("FREQ=WEEKLY;BYDAY=SA,SU", hm(0), hm(13), zone("America/Los_Angeles")));
    windows.push_back(window("FREQ=DAILY", hm(12), hm(2), zone("America/Los_Angeles")));
    const WindowSet set(windows);
    EXPECT_TRUE(set.contains(utc("2026-01-01")));
    EXPECT_EQ(set.next_change(utc("2026-01-01")), std::nullopt);
    EXPECT_EQ(set.next_change(utc("2031-01-01")), std::nullopt);
    std::uint64_t after = 0;
    for (const Window& w : windows) after += w.recurrence().steps();
    EXPECT_LT(after - before, 2'000'000U) << "for 400 rules, a year or two";
    // without the last of these three windows, the union has gaps
    windows.pop_back();
    EXPECT_EQ(text(WindowSet(windows).next_change(utc("2026-01-01"))), "2026-01-03 21:00");
}

TEST(WindowSet, RulesThatEnd) {
    const WindowSet set({window("FREQ=DAILY;UNTIL=20260103", hm(8), hm(9), Zone::utc())});
    EXPECT_EQ(text(set.next_change(utc("2026-01-03 08:00"))), "2026-01-03 09:00");
    EXPECT_EQ(set.next_change(utc("2026-01-03 09:00")), std::nullopt);
    EXPECT_EQ(set.at_or_after(utc("2026-01-03 09:00")), std::nullopt);
    // ask about a time before that of the first question
    EXPECT_EQ(text(set.next_change(utc("1999-01-03 09:00"))), "1999-01-04 08:00");
    EXPECT_EQ(text(set.next_change(utc("2026-01-02 09:00"))), "2026-01-03 08:00");
}

TEST(WindowSet, SparseRules) {
    const WindowSet set({window("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", hm(8), hm(9), Zone::utc())});
    EXPECT_EQ(text(set.next_change(utc("2032-03-01"))), "2060-02-29 08:00");
    EXPECT_EQ(text(set.at_or_after(utc("2088-03-01"))->end), "2128-02-29 09:00");
    const WindowSet far({window("RDATE:95000704", hm(8), hm(9), Zone::utc())});
    EXPECT_EQ(text(far.next_change(utc("2026-01-01"))), "9500-07-04 08:00");
}

TEST(WindowSet, AWindowThatIsAlwaysOnAHolidayNeverOpens) {
    const std::vector<std::string> entries{"FREQ=WEEKLY;BYDAY=FR"};
    const WindowSet set({window("FREQ=WEEKLY;BYDAY=FR", hm(8), hm(9), Zone::utc(), false)},
                        *NonWorkDays::parse(entries, Zone::utc()));
    EXPECT_EQ(set.next_change(utc("2026-01-01")), std::nullopt);
}

TEST(WindowSet, AWeeklyOpeningInASkippedHourComesBack) {
    const WindowSet set({window("FREQ=WEEKLY;BYDAY=SU", hm(2, 15), hm(2, 45), zone("America/Los_Angeles"))});
    EXPECT_EQ(text(set.next_change(utc("2026-03-02"))), "2026-03-15 09:15");
}

TEST(WindowSet, TheListIsSmallAndExtendedOnDemand) {
    const WindowSet set({window("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", hm(8), hm(17), Zone::utc()),
                         window("FREQ=WEEKLY;BYDAY=SA", hm(8), hm(9), Zone::utc())});
    const std::size_t empty = set.memory();
    EXPECT_TRUE(set.contains(utc("2026-11-23 09:00")));
    const std::size_t year = set.memory();
    EXPECT_GT(year, empty);
    EXPECT_LT(year, empty + 3300U);  // 341 intervals; seven intervals take 64 bytes
    EXPECT_TRUE(set.contains(utc("2027-06-01 09:00")));
    EXPECT_EQ(set.memory(), year);
    EXPECT_TRUE(set.contains(utc("2029-06-01 09:00")));
    EXPECT_GT(set.memory(), year);
    // An answer about centuries is computed without keeping its intervals.
    const std::size_t before = set.memory();
    EXPECT_GT(set.intervals(utc("2000-01-01"), utc("2400-01-01")).size(), 100'000U);
    EXPECT_EQ(set.memory(), before);
}

TEST(WindowSet, ASingleWindowHasNoListWhereItsDaysTell) {
    const WindowSet set = prime(zone("Europe/Berlin"));
    const std::size_t empty = set.memory();
    EXPECT_LT(empty, 400U);
    for (const char* t : {"2026-11-23 09:00", "2027-02-01", "2027-06-01 09:00"}) {
        set.contains(utc(t));
        set.next_change(utc(t));
    }
    EXPECT_EQ(set.memory(), empty);
    // the table of opening days has no answer near a change of the clock, so the set makes its list of
    // intervals
    EXPECT_EQ(text(set.next_change(utc("2027-03-27 09:00"))), "2027-03-29 06:00");
    EXPECT_GT(set.memory(), empty);
}

TEST(WindowSet, TimesOutsideTheCalendar) {
    const WindowSet set({window("FREQ=DAILY", hm(8), hm(9), Zone::utc())});
    EXPECT_FALSE(set.contains(Instant::min()));
    EXPECT_FALSE(set.contains(Instant::max()));
    EXPECT_EQ(set.next_change(Instant::max()), std::nullopt);
    EXPECT_EQ(text(set.next_change(Instant::min())), "1601-01-01 08:00");
    EXPECT_EQ(text(set.next_change(utc("9999-12-31 08:00"))), "9999-12-31 09:00");
    EXPECT_EQ(set.next_change(utc("9999-12-31 09:00")), std::nullopt);
}

}  // namespace
}  // namespace pbs::rrule::test
