// Tests series(), which gives the occurrences of a rule that ends, also across changes of the clock. It
// refuses other rules.
#include "rrule/series.h"

#include <gmock/gmock.h>

#include "rrule/recurrence.h"
#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Kind = SeriesError::Kind;

const Zone& berlin() {
    static const Zone zone = *Zone::find("Europe/Berlin");
    return zone;
}

// Returns the instant at which a clock in Berlin shows this time.
Instant at(int year, unsigned month, unsigned day, int hour, int minute = 0) {
    const LocalDay date{std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day)};
    return berlin().instant(Local{date} + std::chrono::hours(hour) + std::chrono::minutes(minute));
}

std::vector<Instant> starts(std::string_view rule, Instant from, std::size_t most = 100) {
    const auto found = series(rule, from, berlin(), most);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return found ? found->starts : std::vector<Instant>{};
}

void expect_refusal(std::string_view rule, Kind kind, std::string_view why, std::size_t most = 100) {
    const auto found = series(rule, at(2026, 11, 23, 9), berlin(), most);
    ASSERT_FALSE(found) << rule;
    EXPECT_EQ(found.error().kind, kind) << rule;
    EXPECT_THAT(found.error().message, HasSubstr(std::string(why)));
}

TEST(Series, BeginsWithTheStartIfTheRuleMatchesIt) {
    EXPECT_EQ(starts("FREQ=DAILY;COUNT=3", at(2026, 11, 23, 9)),
              (std::vector{at(2026, 11, 23, 9), at(2026, 11, 24, 9), at(2026, 11, 25, 9)}));
    // the start is a Monday; the rule occurs on Tuesdays and Thursdays
    EXPECT_EQ(starts("RRULE:FREQ=WEEKLY;BYDAY=TU,TH;COUNT=3", at(2026, 11, 23, 9)),
              (std::vector{at(2026, 11, 24, 9), at(2026, 11, 26, 9), at(2026, 12, 1, 9)}));
}

TEST(Series, FollowsTheClockOnTheWall) {
    // In Berlin, clocks go from 02:00 to 03:00 on 2027-03-28, and from 03:00 back to 02:00 on 2026-10-25.
    EXPECT_EQ(starts("FREQ=DAILY;COUNT=2", at(2027, 3, 27, 9)),
              (std::vector{at(2027, 3, 27, 9), at(2027, 3, 28, 9)}));
    EXPECT_EQ(at(2027, 3, 28, 9) - at(2027, 3, 27, 9), std::chrono::hours(23));
    // 02:30 on 28 March doesn't exist; the offset from before the change makes it 03:30
    EXPECT_EQ(starts("FREQ=DAILY;COUNT=3", at(2027, 3, 27, 2, 30)),
              (std::vector{at(2027, 3, 27, 2, 30), at(2027, 3, 28, 3, 30), at(2027, 3, 29, 2, 30)}));
    // the start is the second time at which clocks show 02:30 on this day
    const Instant second = at(2026, 10, 25, 2, 30) + std::chrono::hours(1);
    EXPECT_EQ(starts("FREQ=DAILY;COUNT=2", second), (std::vector{second, at(2026, 10, 26, 2, 30)}));
}

TEST(Series, UntilIsAnEnd) {
    EXPECT_EQ(
        starts("FREQ=YEARLY;UNTIL=20300101", at(2026, 11, 23, 9)),
        (std::vector{at(2026, 11, 23, 9), at(2027, 11, 23, 9), at(2028, 11, 23, 9), at(2029, 11, 23, 9)}));
    EXPECT_EQ(starts("FREQ=DAILY;UNTIL=20261124T080000Z", at(2026, 11, 23, 9)),
              (std::vector{at(2026, 11, 23, 9), at(2026, 11, 24, 9)}));
    EXPECT_EQ(starts("FREQ=YEARLY;INTERVAL=1000;UNTIL=99991231", at(2026, 11, 23, 9)).size(), 8U);
}

TEST(Series, SaysWhatTheFrequencyLeaves) {
    const auto hourly = series("FREQ=HOURLY;COUNT=2", at(2026, 11, 23, 9), berlin(), 5);
    ASSERT_TRUE(hourly);
    EXPECT_EQ(hourly->frequency, "HOURLY");
    EXPECT_EQ(hourly->period, std::chrono::hours(1));
    const auto minutely = series("FREQ=MINUTELY;COUNT=2", at(2026, 11, 23, 9), berlin(), 5);
    ASSERT_TRUE(minutely);
    EXPECT_EQ(minutely->frequency, "MINUTELY");
    EXPECT_EQ(minutely->period, std::chrono::minutes(1));
    EXPECT_EQ(minutely->starts, (std::vector{at(2026, 11, 23, 9), at(2026, 11, 23, 9, 1)}));
    EXPECT_EQ(series("FREQ=WEEKLY;COUNT=2", at(2026, 11, 23, 9), berlin(), 5)->period, std::chrono::days(7));
    EXPECT_THAT(hourly->readings, SizeIs(2));
}

TEST(Series, IsBounded) {
    EXPECT_EQ(starts("FREQ=DAILY;COUNT=5", at(2026, 11, 23, 9), 5).size(), 5U);
    expect_refusal("FREQ=DAILY;COUNT=6", Kind::too_many, "expected at most 5", 5);
    expect_refusal("FREQ=HOURLY;COUNT=100000", Kind::too_many, "expected at most 366", 366);
    expect_refusal("FREQ=HOURLY;UNTIL=99991231T235959Z", Kind::too_many, "expected at most 366", 366);
    expect_refusal("FREQ=MINUTELY;UNTIL=99991231T235959Z", Kind::too_many, "expected at most 366", 366);
    expect_refusal("FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=29;UNTIL=99991231T235959Z", Kind::too_many, "at most",
                   50);
    expect_refusal("FREQ=DAILY;COUNT=1000000", Kind::rule, "is not a number from 1 to 100000");
}

TEST(Series, RefusesWhatHasNoEndOrNoOccurrence) {
    expect_refusal("FREQ=DAILY", Kind::endless, "'FREQ=DAILY' has no end: expected COUNT or UNTIL");
    expect_refusal("FREQ=DAILY;UNTIL=20261122", Kind::none, "doesn't occur from 20261123T090000 on");
    expect_refusal("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=3", Kind::none, "doesn't occur");
    expect_refusal("FREQ=DAILY;COUNT=2;UNTIL=20300101", Kind::rule, "COUNT and UNTIL are given together");
    expect_refusal("FREQ=SECONDLY;COUNT=2", Kind::rule, "too frequent, expected MINUTELY");
    expect_refusal("FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1;COUNT=2", Kind::none, "doesn't occur");
    expect_refusal("", Kind::rule, "the rule is empty");
    expect_refusal("DTSTART:20260101T000000 FREQ=DAILY;COUNT=2", Kind::rule, "isn't a rule alone");
    expect_refusal("FREQ=DAILY;COUNT=2 RDATE:20260101T000000", Kind::rule, "isn't a rule alone");
    expect_refusal("RDATE:20260101T000000", Kind::rule, "isn't a rule alone");
    expect_refusal(std::string(5000, 'x'), Kind::rule, "a rule of 5000 bytes is too long");
}

}  // namespace
}  // namespace pbs::rrule::test
