#include "ifl/cmds/datetime.h"

#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

std::time_t at(int year, int month, int day, int hour, int minute, int second = 0) {
    std::tm date{};
    date.tm_year = year - 1900;
    date.tm_mon = month - 1;
    date.tm_mday = day;
    date.tm_hour = hour;
    date.tm_min = minute;
    date.tm_sec = second;
    date.tm_isdst = -1;
    return std::mktime(&date);
}

// The present in these tests: Saturday, 21 November 2026, 8:30.
const std::time_t kNow = at(2026, 11, 21, 8, 30);

struct Case {
    const char* text;
    std::time_t expected;
};

class Dates : public testing::TestWithParam<Case> {};

TEST_P(Dates, AreCompletedFromNow) {
    const auto when = parse_date(GetParam().text, kNow);
    ASSERT_TRUE(when) << when.error().message;
    EXPECT_EQ(date_text(*when), date_text(GetParam().expected)) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Dates,
    testing::Values(Case{"1000", at(2026, 11, 21, 10, 0)}, Case{"0830", at(2026, 11, 22, 8, 30)},
                    Case{"0800", at(2026, 11, 22, 8, 0)}, Case{"1000.15", at(2026, 11, 21, 10, 0, 15)},
                    Case{"251000", at(2026, 11, 25, 10, 0)}, Case{"201000", at(2026, 12, 20, 10, 0)},
                    Case{"12241800", at(2026, 12, 24, 18, 0)}, Case{"02281800", at(2027, 2, 28, 18, 0)},
                    Case{"2712241800", at(2027, 12, 24, 18, 0)}, Case{"9912241800", at(1999, 12, 24, 18, 0)},
                    Case{"203012241800.59", at(2030, 12, 24, 18, 0, 59)},
                    Case{"202811210000", at(2028, 11, 21, 0, 0)}));

TEST(ParseDate, RefusesWhatIsNoDate) {
    for (const char* bad : {"", "100", "12345", "2460", "1061", "1000.6", "1000.60", "1000.1x", "10:00",
                            "321000", "13011000", "00011000", "02301000", "2020112108300"}) {
        const auto when = parse_date(bad, kNow);
        ASSERT_FALSE(when) << bad;
        EXPECT_NE(when.error().message.find(std::string("'") + bad + "'"), std::string::npos);
    }
}

TEST(ParseInstant, TakesDatesTimesAndSeconds) {
    EXPECT_EQ(parse_instant("2026-11-21"), at(2026, 11, 21, 0, 0, 0));
    EXPECT_EQ(parse_instant("2026-11-21T08:00"), at(2026, 11, 21, 8, 0, 0));
    EXPECT_EQ(parse_instant("2026-11-21 08:00:26"), at(2026, 11, 21, 8, 0, 26));
    EXPECT_EQ(parse_instant("2026-11-21T12:00:00Z"), 1795262400);
    EXPECT_EQ(parse_instant("1795262400"), 1795262400);
    EXPECT_EQ(parse_instant(instant_text(1795262400)), 1795262400);
}

TEST(ParseInstant, RefusesWhatIsNone) {
    for (const char* bad : {"", "today", "-5", "2026-02-30", "2026-11-21T25:00", "2026-11-21Z",
                            "2026-11-21T08", "2026-11-21T08:00:26 x", "1e9"}) {
        const auto when = parse_instant(bad);
        ASSERT_FALSE(when) << bad;
        EXPECT_NE(when.error().message.find("expected YYYY-MM-DD"), std::string::npos)
            << when.error().message;
    }
}

TEST(ParseDuration, TakesHoursMinutesSeconds) {
    EXPECT_EQ(parse_duration("90").value(), 90);
    EXPECT_EQ(parse_duration("01:30").value(), 90);
    EXPECT_EQ(parse_duration("10:00:01").value(), 36001);
    EXPECT_EQ(parse_duration("00:00:01.50").value(), 2);
    for (const char* bad : {"", ":", "1:2:3:4", "-1", "1:x"}) {
        EXPECT_FALSE(parse_duration(bad)) << bad;
    }
}

TEST(StartTimeText, FitsFiveColumns) {
    EXPECT_EQ(start_time_text(0, kNow), "?");
    EXPECT_EQ(start_time_text(kNow - 1, kNow), "--");
    EXPECT_EQ(start_time_text(at(2026, 11, 21, 14, 5), kNow), "14:05");
    EXPECT_EQ(start_time_text(at(2026, 11, 24, 14, 5), kNow), "Tu 14");
    EXPECT_EQ(start_time_text(at(2026, 12, 24, 14, 5), kNow), "Dec");
    EXPECT_EQ(start_time_text(at(2027, 12, 24, 14, 5), kNow), "2027");
    EXPECT_EQ(start_time_text(at(2032, 12, 24, 14, 5), kNow), ">5yrs");
}

TEST(DateText, IsThatOfCtime) {
    EXPECT_EQ(date_text(at(2026, 11, 1, 8, 0, 26)), "Sun Nov  1 08:00:26 2026");
}

}  // namespace
}  // namespace pbs::cmds
