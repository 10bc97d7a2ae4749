#include "migrate/infer_holiday.h"

#include "migrate/convert.h"
#include "rrule/non_work_days.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string rule(const std::string& description, int day_of_year, int year) {
    const auto proposal = propose_rule({"holidays", 1, description, day_of_year, year, ""});
    return proposal ? proposal->rule : "";
}

TEST(InferHoliday, FixedDates) {
    EXPECT_EQ(rule("Jan 1 New Year's Day", 1, 2026), "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1");
    EXPECT_EQ(rule("Jul 4 INDEPENDENCE DAY", 185, 2026), "FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=4");
    EXPECT_EQ(rule("Jul 4 Independence Day", 186, 2028), "FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=4")
        << "a leap year";
    EXPECT_EQ(rule("Dec 25 Christmas Day", 359, 0), "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25");
}

TEST(InferHoliday, WeekdaysOfAMonth) {
    EXPECT_EQ(rule("Martin Luther King Day", 19, 2026), "FREQ=YEARLY;BYMONTH=1;BYDAY=3MO");
    EXPECT_EQ(rule("May 25 Memorial Day", 145, 2026), "FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO");
    EXPECT_EQ(rule("Nov 26 Thanksgiving", 330, 2026), "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH");
    EXPECT_EQ(rule("Day after Thanksgiving", 331, 2026),
              "FREQ=YEARLY;BYMONTH=11;BYDAY=FR;BYMONTHDAY=23,24,25,26,27,28,29");
    EXPECT_EQ(propose_rule({"holidays", 1, "Labor Day", 250, 2026, ""})->words,
              "the first Monday of September");
}

TEST(InferHoliday, AnUnknownHolidayGetsNoRule) {
    EXPECT_EQ(rule("Founder's Day", 100, 2026), "");
    EXPECT_EQ(rule("", 359, 2026), "");
    EXPECT_EQ(rule("Christmas (observed)", 360, 2026), "") << "it was moved that year";
    EXPECT_EQ(rule("Labor Day", 200, 0), "") << "in no year";
}

// In the year of the holidays file, each proposed rule gives the day that stands in its line.
TEST(InferHoliday, ProposalsAreTheDayOfTheLine) {
    const char* names[] = {"New Year",
                           "Martin Luther King",
                           "Presidents' Day",
                           "Memorial Day",
                           "Juneteenth",
                           "Independence Day",
                           "Labor Day",
                           "Columbus Day",
                           "Veterans Day",
                           "Thanksgiving",
                           "Day after Thanksgiving",
                           "Christmas Eve",
                           "Christmas",
                           "New Year's Eve"};
    for (const char* name : names) {
        int found = 0;
        for (int day = 1; day <= 366; ++day) {
            const std::string text = rule(name, day, 2026);
            if (text.empty()) continue;
            ++found;
            const std::string entries[] = {text};
            const auto days = rrule::NonWorkDays::parse(entries, rrule::Zone::utc());
            ASSERT_TRUE(days) << text;
            const auto in_year = days->year(std::chrono::year{2026});
            ASSERT_EQ(in_year.size(), 1U) << text;
            const auto first = std::chrono::local_days{std::chrono::year{2026} / 1 / 1};
            EXPECT_EQ((in_year.front() - first).count() + 1, day) << name;
        }
        EXPECT_EQ(found, 1) << name;
    }
}

TEST(InferHoliday, TheNameIsWhatIsBehindTheDate) {
    const auto name = [](const std::string& description) {
        return name_of({"holidays", 1, description, 359, 2026, ""});
    };
    for (const char* text : {"Dec 25 Christmas Day", "Dec. 25, Christmas Day", "december 25 - Christmas Day",
                             "Christmas Day", "# Christmas Day", "Dec 25 * Christmas Day"})
        EXPECT_EQ(name(text), "Christmas Day") << text;
    EXPECT_EQ(name("Dec 25"), "");
    EXPECT_EQ(name(""), "");
    EXPECT_EQ(name("May Day"), "May Day");
}

TEST(InferHoliday, IsProposedInTheReportAndUsedWhenAsked) {
    const auto holidays =
        parse_origin_holidays("YEAR 2026\n359 Dec 25 Christmas Day\n100 Apr 10 Founder's Day\n", "holidays");
    const auto plain = convert({.origin_holidays = holidays}, {}, nullptr);
    ASSERT_TRUE(plain);
    EXPECT_THAT(to_qmgr(*plain), AllOf(HasSubstr("BYYEARDAY=359"), HasSubstr("BYYEARDAY=100")));
    EXPECT_THAT(
        to_text(plain->report),
        HasSubstr("holidays:2: Dec 25 Christmas Day is December 25: FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25 "
                  "needs no yearly update (--infer uses it)"));
    const auto inferred = convert({.origin_holidays = holidays}, {}, nullptr, {}, {true});
    ASSERT_TRUE(inferred);
    EXPECT_THAT(to_qmgr(*inferred), AllOf(HasSubstr("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25"),
                                          Not(HasSubstr("BYYEARDAY=359")), HasSubstr("BYYEARDAY=100")));
}

}  // namespace
}  // namespace pbs::migrate::test
