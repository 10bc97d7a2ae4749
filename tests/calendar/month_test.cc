#include "tools/calendar/month.h"

#include "tests/calendar/support.h"

namespace pbs::calendar::test {
namespace {

using std::chrono::year;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::chrono::year_month kDecember = year(2026) / 12;

TEST(Month, EveryDayIsCoveredOnce) {
    for (int month = 1; month <= 12; ++month) {
        const Month made = make_month(site_of(answers()), year(2026) / month);
        for (const MonthDay& d : made.days) {
            int at = 0;
            for (const DayPart& part : d.parts) {
                EXPECT_EQ(part.from, at);
                EXPECT_LT(part.from, part.to);
                at = part.to;
            }
            EXPECT_EQ(at, 1440);
        }
    }
}

TEST(Month, DedicatedTimeGoesBeforePrimeTime) {
    const Month made = make_month(site_of(answers()), kDecember);
    ASSERT_EQ(made.days.size(), 31U);
    EXPECT_THAT(made.days[0].parts,
                ElementsAre(DayPart{0, 480, Phase::non_prime}, DayPart{480, 720, Phase::prime},
                            DayPart{720, 1080, Phase::dedicated}, DayPart{1080, 1440, Phase::non_prime}));
    EXPECT_THAT(made.days[24].parts, ElementsAre(DayPart{0, 1440, Phase::non_prime}));
    EXPECT_TRUE(made.days[24].non_work);
    EXPECT_FALSE(made.days[23].non_work);
}

// In Vienna, the clock goes from 02:00 to 03:00 on 29 March 2026, and from 03:00 back to 02:00 on 25 October
// 2026.
TEST(Month, DaysOnWhichTheClockIsSetAreAsTheClockShowsThem) {
    Answers a = answers();
    a.time_windows = {
        {"night",
         {{"rrule", "FREQ=DAILY"}, {"start_time", "01:00:00"}, {"end_time", "04:00:00"}, {"type", "prime"}}}};
    for (const auto& [month, index] : {std::pair(3, 28), std::pair(10, 24)}) {
        const Month made = make_month(site_of(a), year(2026) / month);
        const MonthDay& set = made.days[static_cast<std::size_t>(index)];
        EXPECT_THAT(set.parts, ElementsAre(DayPart{0, 60, Phase::non_prime}, DayPart{60, 240, Phase::prime},
                                           DayPart{240, 1440, Phase::non_prime}))
            << month;
        EXPECT_EQ(set.remark(),
                  month == 3 ? "clock set from 02:00 to 03:00" : "clock set from 03:00 to 02:00");
        EXPECT_EQ(std::ranges::count(made.days, "", &MonthDay::clock), std::ssize(made.days) - 1);
        EXPECT_THAT(to_terminal(made, false), HasSubstr("  " + set.clock + "\n"));
        EXPECT_THAT(to_svg(made), HasSubstr(">" + set.clock + "</text>"));
    }
}

// The window is open for half an hour in UTC, around the moment at which Vienna's clock is set back. By this
// clock it is open from 02:45 to 03:00, and then from 02:00 to 02:15.
TEST(Month, WindowsInUtcAreDrawnWhenTheClockIsSet) {
    Answers a = answers();
    a.time_windows = {{"utc",
                       {{"rrule", "DTSTART:20260101T000000Z FREQ=DAILY"},
                        {"start_time", "00:45:00"},
                        {"end_time", "01:15:00"},
                        {"type", "prime"}}}};
    const Month made = make_month(site_of(a), year(2026) / 10);
    EXPECT_THAT(made.days[24].parts,
                ElementsAre(DayPart{0, 120, Phase::non_prime}, DayPart{120, 135, Phase::prime},
                            DayPart{135, 165, Phase::non_prime}, DayPart{165, 180, Phase::prime},
                            DayPart{180, 1440, Phase::non_prime}));
}

TEST(Month, AShortWindowIsVisible) {
    Answers a = answers();
    a.time_windows = {{"short",
                       {{"rrule", "FREQ=DAILY"},
                        {"start_time", "10:10:05"},
                        {"end_time", "10:10:15"},
                        {"type", "dedicated"}}}};
    const Month made = make_month(site_of(a), kDecember);
    EXPECT_THAT(made.days[0].parts, testing::Contains(DayPart{610, 611, Phase::dedicated}));
    EXPECT_THAT(to_terminal(made, false), HasSubstr("Tue 01    ....................D..........."));
    EXPECT_THAT(to_svg(made), HasSubstr(R"(<rect x="415" y="60" width="2")"));
}

TEST(Month, NamesPoliciesAndQueuesAreThere) {
    Answers a = answers();
    a.server.attributes["non_work_days"] += " SUMMARY:Christ<mas";
    const Month made = make_month(site_of(a), kDecember);
    const std::string text = to_terminal(made, false);
    EXPECT_THAT(text, HasSubstr("Fri 25 *  ................................................  Christ<mas\n"));
    EXPECT_THAT(text, HasSubstr("sched default: policy days in prime time, nights in non-prime time, days in "
                                "dedicated time\n"));
    EXPECT_THAT(text, HasSubstr("queue night (time_window dark):\n  00:00-06:00 22:00-24:00  on 1-31\n"));
    const std::string svg = to_svg(made);
    EXPECT_THAT(svg, HasSubstr("non-work day: Christ&lt;mas</title>"));
    EXPECT_THAT(svg, HasSubstr("2026-12-01 22:00 to 24:00: queue night (dark)</title>"));
    EXPECT_THAT(svg, HasSubstr("; sched default: policy nights</title>"));
    EXPECT_THAT(to_terminal(make_month(site_of(a), year(2600) / 1), false), HasSubstr("January 2600"));
}

TEST(Month, ReservationsHaveTheirTimeOnEachOfTheirDays) {
    Answers a = answers();
    a.reservations = {
        reservation("R12.svr", "cou<rse", "2", utc("2026-12-03 21:00"), utc("2026-12-05 05:00")),
        reservation("R13.svr", "NULL", "1", utc("2026-12-03 21:00"), utc("2026-12-05 05:00")),
        reservation("R14.svr", "NULL", "5", utc("2026-11-29 00:00"), utc("2026-11-30 00:00"))};
    const Month made = make_month(site_of(a), kDecember);
    const std::string text = to_terminal(made, false);
    EXPECT_THAT(text, HasSubstr("reservation R12.svr (cou<rse):\n  22:00-24:00  on 3\n  00:00-24:00  on 4\n"
                                "  00:00-06:00  on 5\n"));
    EXPECT_THAT(text, Not(HasSubstr("R13"))) << "it isn't confirmed";
    EXPECT_THAT(text, Not(HasSubstr("R14"))) << "it is in another month";
    EXPECT_THAT(to_svg(made),
                HasSubstr("2026-12-03 22:00 to 24:00: reservation R12.svr (cou&lt;rse)</title>"));
}

TEST(Month, AStandingReservationIsOneWithAllOfItsTimes) {
    Answers a = answers();
    ObjectText standing =
        reservation("S12.svr", "course", "2", utc("2026-12-03 08:00"), utc("2026-12-03 10:00"));
    standing.attributes.insert({{"reserve_rrule", "FREQ=WEEKLY;COUNT=3"},
                                {"reserve_timezone", "Europe/Vienna"},
                                {"reserve_count", "3"},
                                {"reserve_index", "1"}});
    a.reservations = {standing};
    EXPECT_THAT(to_terminal(make_month(site_of(a), kDecember), false),
                HasSubstr("reservation S12.svr (course):\n  09:00-11:00  on 3, 10, 17\n"));
}

TEST(Month, TerminalHasABarADay) {
    const std::string text = to_terminal(make_month(site_of(answers()), kDecember), false);
    EXPECT_THAT(text, HasSubstr("December 2026, svr (Europe/Vienna)\n"));
    EXPECT_THAT(text, HasSubstr("Tue 01    ................########DDDDDDDDDDDD............\n"));
    EXPECT_THAT(text, HasSubstr("Fri 25 *  ................................................\n"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(to_terminal(make_month(site_of(answers()), kDecember), true),
                HasSubstr("\x1b[30;42m########\x1b"));
}

TEST(Month, PictureHasPartsToTheMinuteAndEscapesNames) {
    Answers a = answers();
    a.server.name = "a<b&c";
    const std::string svg = to_svg(make_month(site_of(a), kDecember));
    EXPECT_THAT(svg, HasSubstr("a&lt;b&amp;c"));
    EXPECT_THAT(
        svg,
        HasSubstr("<title>2026-12-01 12:00 to 18:00: dedicated time; sched default: policy days</title>"));
    EXPECT_THAT(svg, HasSubstr(R"(<rect x="470" y="60" width="180" height="14")"));  // x is 110 + 720/2, the
                                                                                     // width 360/2
    EXPECT_THAT(svg, HasSubstr("</svg>\n"));
}

}  // namespace
}  // namespace pbs::calendar::test
