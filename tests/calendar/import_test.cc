#include "tools/calendar/import.h"

#include "tests/calendar/support.h"

namespace pbs::calendar::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string event(const std::string& summary, const std::string& lines) {
    return "BEGIN:VEVENT\r\nUID:" + summary + "\r\nSUMMARY:" + summary + "\r\n" + lines + "END:VEVENT\r\n";
}
std::string calendar(const std::string& events) {
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + events + "END:VCALENDAR\r\n";
}
const rrule::Instant kNow = utc("2026-11-21 12:00");

TEST(Import, ShowsWhatIsNewKnownPastAndNoHoliday) {
    Answers a = answers();
    a.server.attributes["non_work_days"] = "DTSTART;VALUE=DATE:20261208 RRULE:FREQ=DAILY;COUNT=1";
    const auto plan =
        plan_import(calendar(event("later", "DTSTART;VALUE=DATE:20270106\r\n") +
                             event("sooner", "DTSTART;VALUE=DATE:20200101\r\nRRULE:FREQ=YEARLY\r\n") +
                             event("known", "DTSTART;VALUE=DATE:20261208\r\n") +
                             event("over", "DTSTART;VALUE=DATE:20261026\r\n") +
                             event("meeting", "DTSTART:20261201T100000Z\r\n") +
                             event("again", "DTSTART;VALUE=DATE:20270106\r\n")),
                    site_of(a), kNow);
    ASSERT_TRUE(plan) << plan.error();
    EXPECT_THAT(entries(*plan), ElementsAre("DTSTART;VALUE=DATE:20200101 RRULE:FREQ=YEARLY SUMMARY:sooner",
                                            "01/06/2027 SUMMARY:later"));
    ASSERT_EQ(plan->there.size(), 2U);
    EXPECT_EQ(plan->there[0].event.summary, "known");
    EXPECT_EQ(plan->there[1].event.summary, "again");
    ASSERT_EQ(plan->past.size(), 1U);
    EXPECT_EQ(plan->past[0].event.summary, "over");
    const std::string text = to_text(*plan);
    EXPECT_THAT(text, HasSubstr("To be added:\n  Fri 2027-01-01  sooner"));
    EXPECT_THAT(text, HasSubstr("  meeting: it has a time of day\n"));
}

TEST(Import, TodayIsNotPast) {
    const auto plan =
        plan_import(calendar(event("today", "DTSTART;VALUE=DATE:20261121\r\n")), site_of(answers()), kNow);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->added.size(), 1U);
}

TEST(Import, NoCalendarIsAnError) {
    EXPECT_FALSE(plan_import("no calendar", site_of(answers()), kNow));
    const auto empty = plan_import(calendar(""), site_of(answers()), kNow);
    ASSERT_TRUE(empty);
    EXPECT_EQ(to_text(*empty), "The calendar has no events.\n");
}

}  // namespace
}  // namespace pbs::calendar::test
