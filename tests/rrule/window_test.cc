#include "rrule/window.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

struct OnDay {
    const char* zone;
    Seconds start;
    Seconds end;
    const char* day;
    const char* opens;   // time in UTC
    const char* closes;  // time in UTC
};

TEST(Window, TimesAreReadingsOfTheWallClock) {
    const OnDay table[] = {
        {"America/Los_Angeles", hm(8), hm(17), "2026-01-05", "2026-01-05 16:00", "2026-01-06 01:00"},
        {"America/Los_Angeles", hm(8), hm(17), "2026-07-06", "2026-07-06 15:00", "2026-07-07 00:00"},
        // a whole day has 23 or 25 hours if the clock changes
        {"America/Los_Angeles", hm(0), hm(24), "2026-03-08", "2026-03-08 08:00", "2026-03-09 07:00"},
        {"America/Los_Angeles", hm(0), hm(24), "2026-11-01", "2026-11-01 07:00", "2026-11-02 08:00"},
        // an end that isn't after the start means a time on the next day
        {"Europe/Berlin", hm(22), hm(6), "2026-03-28", "2026-03-28 21:00", "2026-03-29 04:00"},
        {"Europe/Berlin", hm(8), hm(8), "2026-10-24", "2026-10-24 06:00", "2026-10-25 07:00"},
        // a start or end that the clock skips is the instant at which the clock is changed
        {"Europe/Berlin", hm(2, 30), hm(4), "2026-03-29", "2026-03-29 01:00", "2026-03-29 02:00"},
        {"Europe/Berlin", hm(1), hm(2, 30), "2026-03-29", "2026-03-29 00:00", "2026-03-29 01:00"},
        {"Europe/Berlin", hm(2, 15), hm(2, 45), "2026-03-29", "2026-03-29 01:00", "2026-03-29 01:00"},
        // a time that the clock shows twice means the first of its two instants
        {"Europe/Berlin", hm(2, 30), hm(4), "2026-10-25", "2026-10-25 00:30", "2026-10-25 03:00"},
        {"Europe/Berlin", hm(1), hm(2, 30), "2026-10-25", "2026-10-24 23:00", "2026-10-25 00:30"},
        {"Australia/Lord_Howe", hm(1), hm(3), "2026-10-04", "2026-10-03 14:30", "2026-10-03 16:00"},
        {"Australia/Lord_Howe", hm(1), hm(3), "2026-04-05", "2026-04-04 14:00", "2026-04-04 16:30"},
        {"Pacific/Apia", hm(8), hm(17), "2011-12-30", "2011-12-30 10:00", "2011-12-30 10:00"},
    };
    for (const OnDay& row : table) {
        const Interval on = window("FREQ=DAILY", row.start, row.end, zone(row.zone)).on(day(row.day));
        EXPECT_EQ(text(on.start), row.opens) << row.zone << ' ' << row.day;
        EXPECT_EQ(text(on.end), row.closes) << row.zone << ' ' << row.day;
    }
}

TEST(Window, TheStartDayDecidesTheHolidayQuestion) {
    const std::vector<std::string> entries{"12/25"};
    const NonWorkDays holidays = *NonWorkDays::parse(entries, Zone::utc());
    const Window night = window("FREQ=DAILY", hm(22), hm(6), Zone::utc(), false);
    std::vector<Interval> found;
    night.expand(day("2026-12-24"), day("2026-12-27"), holidays, found);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(text(found[0].start), "2026-12-24 22:00");
    EXPECT_EQ(text(found[0].end), "2026-12-25 06:00");
    EXPECT_EQ(text(found[1].start), "2026-12-26 22:00");
    found.clear();
    night.expand(day("2026-12-24"), day("2026-12-27"), NonWorkDays(), found);
    EXPECT_EQ(found.size(), 3U);
    found.clear();
    window("FREQ=DAILY", hm(22), hm(6), Zone::utc(), true)
        .expand(day("2026-12-24"), day("2026-12-27"), holidays, found);
    EXPECT_EQ(found.size(), 3U);
}

TEST(Window, TheZoneIsThatOfDtstart) {
    const Window w = window("DTSTART;TZID=Europe/Berlin:20260101T000000 FREQ=DAILY", hm(8), hm(17),
                            zone("America/Los_Angeles"));
    EXPECT_EQ(text(w.on(day("2026-01-05")).start), "2026-01-05 07:00");
}

TEST(Window, OneOpeningADayWhateverTheRule) {
    std::vector<Interval> found;
    window("FREQ=HOURLY;INTERVAL=6", hm(8), hm(17), Zone::utc())
        .expand(day("2026-01-01"), day("2026-01-04"), NonWorkDays(), found);
    EXPECT_EQ(found.size(), 3U);
}

TEST(Window, UnsetTimesAreTheWholeDay) {
    const auto whole = Window::make({"FREQ=DAILY", std::nullopt, std::nullopt, true}, Zone::utc());
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->end_time(), hm(24));
    EXPECT_EQ(Window::make({"FREQ=DAILY", std::nullopt, hm(6), true}, Zone::utc())->end_time(), hm(6));
    EXPECT_EQ(Window::make({"FREQ=DAILY", hm(18), std::nullopt, true}, Zone::utc())->end_time(), hm(24));
    EXPECT_EQ(Window::make({"FREQ=DAILY", hm(0), hm(0), true}, Zone::utc())->end_time(), hm(24));
}

}  // namespace
}  // namespace pbs::rrule::test
