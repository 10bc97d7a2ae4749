#include "rrule/overlap.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

struct Pair {
    const char* rule_a;
    Seconds start_a, end_a;
    const char* rule_b;
    Seconds start_b, end_b;
    const char* overlap;  // UTC from 2026-01-01 on, or "never"
};

TEST(Overlap, Exact) {
    const Pair pairs[] = {
        {"FREQ=DAILY", hm(8), hm(12), "FREQ=DAILY", hm(12), hm(17), "never"},
        {"FREQ=DAILY", hm(8), hm(12), "FREQ=DAILY", hm(11, 59), hm(17), "2026-01-01 11:59"},
        {"FREQ=WEEKLY;BYDAY=MO", hm(8), hm(12), "FREQ=WEEKLY;BYDAY=TU", hm(8), hm(12), "never"},
        {"FREQ=WEEKLY;BYDAY=MO", hm(22), hm(6), "FREQ=WEEKLY;BYDAY=TU", hm(5), hm(12), "2026-01-06 05:00"},
        {"FREQ=WEEKLY;BYDAY=MO", hm(22), hm(6), "FREQ=WEEKLY;BYDAY=TU", hm(6), hm(12), "never"},
        {"FREQ=WEEKLY;BYDAY=MO;INTERVAL=2", hm(8), hm(9), "FREQ=WEEKLY;BYDAY=MO;INTERVAL=3", hm(8), hm(9),
         "2026-01-05 08:00"},
        // Every second week, the weeks between.
        {"DTSTART:20260105 FREQ=WEEKLY;INTERVAL=2", hm(8), hm(9), "DTSTART:20260112 FREQ=WEEKLY;INTERVAL=2",
         hm(8), hm(9), "never"},
        {"DTSTART:20260101 FREQ=DAILY;INTERVAL=7", hm(8), hm(9), "DTSTART:20260102 FREQ=DAILY;INTERVAL=11",
         hm(8), hm(9), "2026-02-26 08:00"},
        // Only when the 29th of February is a Sunday, far away.
        {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", hm(8), hm(9), "FREQ=WEEKLY;BYDAY=SU", hm(8), hm(9),
         "2032-02-29 08:00"},
        // 1 January is a Sunday, but never a Sunday in such a century year: decided over 400 years.
        {"DTSTART:21000101 FREQ=YEARLY;INTERVAL=100", hm(8), hm(9), "FREQ=WEEKLY;BYDAY=SU", hm(8), hm(9),
         "never"},
        {"DTSTART:21000101 FREQ=YEARLY;INTERVAL=100", hm(8), hm(9), "FREQ=WEEKLY;BYDAY=SA", hm(8), hm(9),
         "2400-01-01 08:00"},
        // Finite rules.
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
    // Together only between 02:15 and 02:30, which the first Sunday asked about skips.
    const Window c = window("FREQ=WEEKLY;BYDAY=SU", hm(2, 15), hm(5), la);
    EXPECT_EQ(text(first_overlap(a, c, utc("2026-03-08 08:00"))), "2026-03-15 09:15");
    // Together only in hours that are skipped every year: never.
    const Window d = window("FREQ=YEARLY;BYMONTH=3;BYDAY=2SU", hm(2, 15), hm(2, 30), la);
    EXPECT_EQ(first_overlap(a, d, utc("2026-01-01")), std::nullopt);
}

TEST(Overlap, AcrossZones) {
    // 17:00 in Berlin is 08:00 in Los Angeles, except between their changes of the clock, when it is 09:00.
    const Window berlin = window("FREQ=DAILY", hm(16), hm(17), zone("Europe/Berlin"));
    const Window la = window("FREQ=DAILY", hm(8), hm(9), zone("America/Los_Angeles"));
    EXPECT_EQ(text(first_overlap(berlin, la, utc("2026-01-01"))), "2026-03-08 15:00");
    // Half of the year an hour off, never together with a zone without changes.
    const Window kolkata = window("FREQ=DAILY", hm(8), hm(9), zone("Asia/Kolkata"));
    EXPECT_EQ(first_overlap(kolkata, la, utc("2026-01-01")), std::nullopt);
}

TEST(Overlap, HolidaysAreLeftAside) {
    const Window a = window("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25", hm(8), hm(9), Zone::utc(), false);
    const Window b = window("FREQ=DAILY", hm(8), hm(9), Zone::utc(), false);
    EXPECT_EQ(text(first_overlap(a, b, utc("2026-01-01"))), "2026-12-25 08:00");
}

TEST(Overlap, OfUnionsAndComplements) {
    const Zone la = zone("America/Los_Angeles");
    const std::vector<std::string> entries{"12/25"};
    const WindowSet prime({window("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", hm(8), hm(17), la, false)},
                          *NonWorkDays::parse(entries, la));
    const WindowSet friday({window("FREQ=WEEKLY;BYDAY=FR", hm(8), hm(17), la)});
    EXPECT_EQ(text(first_overlap(prime, friday, utc("2026-12-19"))), "2026-12-19 00:00");
    EXPECT_EQ(text(first_overlap(prime, friday, utc("2026-12-19 01:00"))), "2027-01-01 16:00");
    EXPECT_EQ(text(first_overlap(prime.complement(), friday, utc("2026-11-21"))), "2026-12-25 16:00");
    const WindowSet nights({window("FREQ=DAILY", hm(17), hm(8), la)});
    EXPECT_EQ(first_overlap(prime, nights, utc("2026-01-01")), std::nullopt);
    EXPECT_EQ(first_overlap(nights, WindowSet({window("FREQ=DAILY", hm(8), hm(17), la)}), utc("2026-01-01")),
              std::nullopt);
    // What lies within another never leaves it, on any day to come.
    const WindowSet days({window("FREQ=DAILY", hm(7), hm(12), la), window("FREQ=DAILY", hm(12), hm(18), la)});
    EXPECT_EQ(first_overlap(prime, days.complement(), utc("2026-01-01")), std::nullopt);
    EXPECT_EQ(text(first_overlap(days, prime.complement(), utc("2026-11-23 20:00"))), "2026-11-24 01:00");
    // Nothing and everything.
    EXPECT_EQ(first_overlap(prime, WindowSet{}, utc("2026-01-01")), std::nullopt);
    EXPECT_EQ(text(first_overlap(prime, WindowSet{}.complement(), utc("2026-11-21 01:00"))),
              "2026-11-23 16:00");
    EXPECT_EQ(text(first_overlap(prime.complement(), WindowSet{}.complement(), utc("2026-11-21"))),
              "2026-11-21 01:00");
    // Across zones, an hour that only the weeks between two changes of the clock have in common.
    const WindowSet berlin({window("FREQ=DAILY", hm(16), hm(17), zone("Europe/Berlin"))});
    const WindowSet mornings({window("FREQ=DAILY", hm(8), hm(9), la)});
    EXPECT_EQ(text(first_overlap(berlin, mornings, utc("2026-01-01"))), "2026-03-08 15:00");
}

TEST(Overlap, ListsNameTheEarliestPair) {
    const std::vector<Window> windows{
        window("FREQ=WEEKLY;BYDAY=MO", hm(8), hm(12), Zone::utc()),
        window("FREQ=WEEKLY;BYDAY=TU", hm(8), hm(12), Zone::utc()),
        window("FREQ=MONTHLY;BYMONTHDAY=24", hm(11), hm(13), Zone::utc()),
        window("FREQ=WEEKLY;BYDAY=TU", hm(11, 30), hm(13), Zone::utc()),
    };
    const auto found = first_overlap(windows, utc("2026-11-21"));
    ASSERT_TRUE(found);
    EXPECT_EQ(text(found->at), "2026-11-24 11:00");
    EXPECT_EQ(found->first, 1U);
    EXPECT_EQ(found->second, 2U);
    EXPECT_EQ(first_overlap(std::span(windows).first(2), utc("2026-11-21")), std::nullopt);
    const auto between =
        first_overlap(std::span(windows).first(1), std::span(windows).subspan(1), utc("2026-01-01"));
    ASSERT_TRUE(between);
    EXPECT_EQ(text(between->at), "2026-08-24 11:00");
    EXPECT_EQ(between->second, 1U);
}

}  // namespace
}  // namespace pbs::rrule::test
