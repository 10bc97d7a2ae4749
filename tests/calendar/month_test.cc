#include "calendar/month.h"

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

// The clock goes from 02:00 to 03:00 on 29 March 2026 and from 03:00 to 02:00 on 25 October 2026.
TEST(Month, DaysOnWhichTheClockIsSetAreAsTheClockShowsThem) {
    Answers a = answers();
    a.time_windows = {
        {"night",
         {{"rrule", "FREQ=DAILY"}, {"start_time", "01:00:00"}, {"end_time", "04:00:00"}, {"type", "prime"}}}};
    for (const auto& [month, index] : {std::pair(3, 28), std::pair(10, 24)}) {
        const Month made = make_month(site_of(a), year(2026) / month);
        EXPECT_THAT(made.days[static_cast<std::size_t>(index)].parts,
                    ElementsAre(DayPart{0, 60, Phase::non_prime}, DayPart{60, 240, Phase::prime},
                                DayPart{240, 1440, Phase::non_prime}))
            << month;
    }
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
    EXPECT_THAT(svg, HasSubstr("<title>2026-12-01 12:00 to 18:00: dedicated time</title>"));
    EXPECT_THAT(svg, HasSubstr(R"(<rect x="470" y="60" width="180")"));  // 110 + 720/2, 360/2
    EXPECT_THAT(svg, HasSubstr("</svg>\n"));
}

}  // namespace
}  // namespace pbs::calendar::test
