#include "migrate/origin_holidays.h"

#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;

TEST(OriginHolidays, DaysWithTheirDescriptions) {
    const auto file = parse_origin_holidays(
        "* Holidays\n\nYEAR 1999\nYEARLY 1\n  1\tJan  1   New Year's Day * every year\r\n185 Jul 4\n0 any "
        "year\n365\n1 again",
        "holidays");
    EXPECT_TRUE(file.mistakes.empty());
    ASSERT_EQ(file.days.size(), 3U);
    EXPECT_EQ(file.days[0].day_of_year, 1);
    EXPECT_EQ(file.days[0].description, "Jan 1 New Year's Day");
    EXPECT_EQ(file.days[0].line, 5);
    EXPECT_EQ(file.days[0].rule(), "FREQ=YEARLY;BYYEARDAY=1");
    EXPECT_EQ(file.days[1].day_of_year, 185);
    EXPECT_EQ(file.days[2].day_of_year, 365);
    EXPECT_EQ(file.days[2].description, "");
    const auto commented =
        parse_origin_holidays("359 Dec 25 * Christmas * Day\n1 * New Year\n2 *\n", "holidays");
    ASSERT_EQ(commented.days.size(), 3U);
    EXPECT_EQ(commented.days[0].description, "Dec 25 Christmas Day");
    EXPECT_EQ(commented.days[1].description, "New Year");
    EXPECT_EQ(commented.days[2].description, "");
}

TEST(OriginHolidays, AnythingElseIsAnErrorWithItsLine) {
    const auto file = parse_origin_holidays(
        "1999 0800 1700\n366 x\n -1 x\n01/01 x\nJan 1\n12x\n+5\n99999999999\n5 fine\n", "holidays");
    ASSERT_EQ(file.days.size(), 1U) << "the rest counts";
    const std::string expected = " is not a day of the year from 1 to 365 (or 0, or YEAR)";
    EXPECT_THAT(texts(file.mistakes),
                ElementsAre("holidays:1:1: '1999'" + expected, "holidays:2:1: '366'" + expected,
                            "holidays:3:2: '-1'" + expected, "holidays:4:1: '01/01'" + expected,
                            "holidays:5:1: 'Jan'" + expected, "holidays:6:1: '12x'" + expected,
                            "holidays:7:1: '+5'" + expected, "holidays:8:1: '99999999999'" + expected));
}

TEST(OriginHolidays, MoreThan256DaysAndNone) {
    std::string text;
    for (int i = 1; i <= 365; ++i) text += std::to_string(i) + "\n";
    EXPECT_EQ(parse_origin_holidays(text, "holidays").days.size(), 365U);
    EXPECT_TRUE(parse_origin_holidays("", "holidays").days.empty());
    EXPECT_TRUE(parse_origin_holidays("* nothing", "holidays").days.empty());
}

TEST(OriginHolidays, TheSampleOfTheDemonstrationIsGood) {
    const std::string path = std::string(PBS_SOURCE_DIR) + "/demo/origin/holidays";
    const auto file = parse_origin_holidays(read_text(path), path);
    EXPECT_TRUE(file.mistakes.empty());
    EXPECT_GE(file.days.size(), 8U);
}

}  // namespace
}  // namespace pbs::migrate::test
