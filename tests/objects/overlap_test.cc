#include <gmock/gmock.h>

#include "objects/windows.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class OverlapTest : public StoreTest {
  protected:
    OverlapTest() {
        run("c t day rrule=FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR, start_time=08:00, end_time=18:00");
        run("c t night rrule=FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR, start_time=18:00, end_time=08:00");
        run("c t lunch rrule=FREQ=WEEKLY;BYDAY=WE, start_time=12:00, end_time=13:00");
    }
};

TEST_F(OverlapTest, WindowsThatTouchDontOverlap) {
    run("s q q1 time_window=\"day,night\"");
    EXPECT_THAT(store_->snapshot()->queue_time_windows("q1"), testing::ElementsAre("day", "night"));
}

TEST_F(OverlapTest, IsRefusedWithBothNamesAndTheFirstInstant) {
    const Error error = refused("s q q1 time_window=\"day,lunch\"");
    EXPECT_EQ(error.code, Code::bad_value);
    // kNow, 2026-11-21, is a Saturday; the first Wednesday after it is the 25th
    EXPECT_THAT(error.message,
                AllOf(HasSubstr("day and lunch"), HasSubstr("q1"), HasSubstr("2026-11-25 12:00:00")));
    run("s q q1 time_window=day");
    EXPECT_THAT(refused("s q q1 time_window+=lunch").message, HasSubstr("2026-11-25 12:00:00"));
}

TEST_F(OverlapTest, ChangeOfAWindowIsCheckedAgainstAllItsQueues) {
    run("s q q1 time_window=\"day,night\"");
    run("s q q2 time_window=day");
    EXPECT_THAT(refused("s t day end_time=18:01").message,
                AllOf(HasSubstr("q1"), HasSubstr("2026-11-23 18:00:00")));
    EXPECT_EQ(store_->snapshot()->time_window("day")->seconds("end_time"), std::chrono::hours(18));
    run("s t day end_time=17:00");
    run("s t day comment=x, type=prime, applies_on_holidays=False");
}

TEST_F(OverlapTest, OneWindowMayServeSeveralQueues) {
    run("s q q1 time_window=day");
    run("s q q2 time_window=\"day,night\"");
    refused("s q q3 time_window=\"day,day\"");
}

TEST_F(OverlapTest, FarFutureCountsAndThePastDoesnt) {
    run("c t once rrule=\"DTSTART:20760106T000000 RRULE:FREQ=DAILY;COUNT=1\", start_time=09:00, "
        "end_time=10:00");  // 6 January 2076 is a Monday
    EXPECT_THAT(refused("s q q1 time_window=\"day,once\"").message, HasSubstr("2076-01-06 09:00:00"));
    run("c t before rrule=\"DTSTART:20200106T000000 RRULE:FREQ=DAILY;COUNT=1\", start_time=09:00, "
        "end_time=10:00");
    run("s q q1 time_window=\"day,before\"");
}

TEST_F(OverlapTest, NonWorkDaysCountAndTheirChangeIsCheckedOnAllQueues) {
    run("s t day applies_on_holidays=False");
    run("c t feast rrule=FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24, start_time=10:00, end_time=12:00");
    // 24 December 2026 is a Thursday.
    EXPECT_THAT(refused("s q q1 time_window=\"day,feast\"").message, HasSubstr("2026-12-24 10:00:00"));
    run("s s non_work_days=12/24");
    run("s q q1 time_window=\"day,feast\"");
    run("s q q2 time_window=day");
    for (const char* change : {"u s non_work_days", "s s non_work_days-=12/24", "s s non_work_days=12/25"})
        EXPECT_THAT(refused(change).message,
                    AllOf(HasSubstr("day and feast of queue q1"), HasSubstr("2026-12-24 10:00:00")))
            << change;
    EXPECT_THAT(refused("s t day applies_on_holidays=True").message, HasSubstr("day and feast of queue q1"));
    run("s s non_work_days+=12/25");
    run("s q q1 time_window=day");
    run("u s non_work_days");
}

TEST_F(OverlapTest, NamesOfNonWorkDaysStayBesideThem) {
    run("s s non_work_days=\"12/25 SUMMARY:Christmas\\, FREQ=1,12/26 SUMMARY:a\\\\,12/27\"");
    run("s s non_work_days+=\"01/01 SUMMARY:New Year's Day\"");
    EXPECT_THAT(store_->snapshot()->non_work_days(),
                testing::ElementsAre("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25 SUMMARY:Christmas\\, FREQ=1",
                                     "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=26 SUMMARY:a\\\\",
                                     "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=27",
                                     "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1 SUMMARY:New Year's Day"));
    run("s s non_work_days-=12/25");
    EXPECT_EQ(store_->snapshot()->non_work_days().size(), 3U);
}

TEST_F(OverlapTest, OtherHoursOnHolidays) {
    run("s t day applies_on_holidays=False");
    run("c t feast rrule=FREQ=DAILY, start_time=10:00, end_time=12:00, only_on_holidays=True");
    run("s q q1 time_window=\"day,feast\"");
    run("s s non_work_days=\"12/24,FREQ=WEEKLY;BYDAY=WE\"");
    EXPECT_THAT(refused("s t feast only_on_holidays=False").message, HasSubstr("2026-11-23 10:00:00"));
    EXPECT_THAT(refused("s t day only_on_holidays=True").message, HasSubstr("never opens"));
}

TEST_F(OverlapTest, OnlyWhatChangedIsCompared) {
    run("s q q1 time_window=\"day,night\"");
    run("c t again rrule=FREQ=WEEKLY;BYDAY=SA, start_time=08:00, end_time=09:00");
    run("s q q1 time_window+=again");
    EXPECT_THAT(refused("s t again rrule=FREQ=WEEKLY;BYDAY=FR").message, HasSubstr("day and again"));
    run("s t again rrule=FREQ=WEEKLY;BYDAY=SU");
    run("s q q1 time_window-=again");
}

// KeptWindows parses a window again only when it changes. The test recognises an unparsed one by the address
// of its recurrence's text.
TEST_F(OverlapTest, WindowsAreKeptWhileTheySayTheSame) {
    KeptWindows kept;
    const rrule::Zone zone = rrule::Zone::utc();
    const auto rule = [&](std::string_view name) {
        return &kept.of(*store_->snapshot()->time_window(name), zone)->recurrence().text();
    };
    const std::string* const day = rule("day");
    run("s t day comment=other");
    EXPECT_EQ(rule("day"), day);
    run("s t day end_time=17:00");
    EXPECT_NE(rule("day"), day);
    EXPECT_EQ(kept.of(*store_->snapshot()->time_window("day"), zone)->end_time(), std::chrono::hours(17));
    EXPECT_EQ(kept.size(), 1U);
}

TEST_F(OverlapTest, WindowsThatAreGoneAreForgotten) {
    KeptWindows kept;
    for (int i = 0; i < 100; ++i) {
        run(fmt::format("c t w{} rrule=FREQ=DAILY", i));
        ASSERT_TRUE(kept.of(*store_->snapshot()->time_window(fmt::format("w{}", i)), rrule::Zone::utc()));
    }
    for (int i = 1; i < 100; ++i) run(fmt::format("d t w{}", i));
    kept.forget_gone(Draft(store_->snapshot()));
    EXPECT_EQ(kept.size(), 1U);
}

// The windows that are kept follow each change, also if a window is deleted and another one gets its name, or
// if a command that changes a window is refused.
TEST_F(OverlapTest, WhatIsKeptIsNeverAnOlderWindow) {
    run("s q q1 time_window=night");
    run("d t day");
    run("c t day rrule=FREQ=DAILY, start_time=19:00, end_time=20:00");
    EXPECT_THAT(refused("s q q1 time_window+=day").message, HasSubstr("overlap"));
    EXPECT_THAT(refused("s t lunch end_time=99:00").message, HasSubstr("end_time"));
    run("s q q1 time_window=\"night,lunch\"");
    refused("s t lunch start_time=17:00, end_time=19:00");
    run("s t lunch comment=x");
    run("s t lunch start_time=17:00, end_time=18:00");
}

TEST_F(OverlapTest, AnHourlyRuleIsJudgedWithItsStart) {
    run("c t hourly rrule=FREQ=HOURLY;INTERVAL=24;BYHOUR=8, start_time=08:00");
    EXPECT_THAT(refused("s t hourly start_time=09:00").message,
                AllOf(HasSubstr("rrule: bad value 'FREQ=HOURLY"), HasSubstr("never occurs")));
    EXPECT_THAT(refused("u t hourly start_time").message, HasSubstr("never occurs"));
}

TEST_F(OverlapTest, AWindowWithoutRuleIsNotForQueues) {
    run("c t t1");
    EXPECT_THAT(refused("s q q1 time_window=t1").message, HasSubstr("t1 has no rrule"));
    run("s q q1 time_window=day");
    EXPECT_THAT(refused("u t day rrule").message, HasSubstr("day has no rrule"));
}

}  // namespace
}  // namespace pbs::objects
