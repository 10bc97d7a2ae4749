#include "rrule/non_work_days.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

NonWorkDays days_of(const std::vector<std::string>& entries) {
    auto parsed = NonWorkDays::parse(entries, zone("America/Los_Angeles"));
    EXPECT_TRUE(parsed) << parsed.error().message;
    return parsed.value_or(NonWorkDays{});
}

TEST(NonWorkDays, ShorthandIsStoredAsTheRuleItGenerates) {
    const auto rule = [](const char* entry) {
        return NonWorkDays::stored(entry, Zone::utc()).value_or("refused");
    };
    EXPECT_EQ(rule("01/01"), "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1");
    EXPECT_EQ(rule(" 12/25 "), "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25");
    EXPECT_EQ(rule("02/29"), "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29");
    EXPECT_EQ(rule("07/05/2027"), "DTSTART;VALUE=DATE:20270705 RRULE:FREQ=DAILY;COUNT=1");
    EXPECT_EQ(rule("FREQ=WEEKLY;BYDAY=FR;INTERVAL=2"), "FREQ=WEEKLY;BYDAY=FR;INTERVAL=2");
    for (const char* bad : {"13/01", "00/10", "02/30", "02/29/2027", "01/01/1500", "ab/cd"}) {
        const auto refused = NonWorkDays::stored(bad, Zone::utc());
        ASSERT_FALSE(refused) << bad;
        EXPECT_THAT(refused.error().message, testing::HasSubstr(std::string("'") + bad + "' is not a day"));
    }
    for (const char* bad : {"1/1", "07/05/27", "07/05/", "7/4/2026", "2026/07/04"}) {
        const auto refused = NonWorkDays::stored(bad, Zone::utc());
        ASSERT_FALSE(refused) << bad;
        EXPECT_THAT(refused.error().message,
                    testing::StartsWith(std::string("'") + bad +
                                        "' is not written as MM/DD or MM/DD/YYYY: two digits for the month"));
    }
}

TEST(NonWorkDays, NamesAreKeptBesideTheRule) {
    const auto stored = [](const char* entry) {
        return NonWorkDays::stored(entry, Zone::utc()).value_or("refused");
    };
    EXPECT_EQ(stored("12/25 SUMMARY:Christmas Day"),
              "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25 SUMMARY:Christmas Day");
    EXPECT_EQ(stored("12/25 summary: A, B; \"C\" \\\\ D\\, E "),
              "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25 SUMMARY:A\\, B\\; 'C' \\\\ D\\, E");
    EXPECT_EQ(stored("12/25 SUMMARY:"), "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25");
    // a stored entry, parsed and stored again, doesn't change
    for (const char* entry :
         {"12/25 SUMMARY:a\\, b", "FREQ=DAILY SUMMARY:x SUMMARY:y", "01/01/2027 SUMMARY:\xc3\xa4"})
        EXPECT_EQ(stored(stored(entry).c_str()), stored(entry)) << entry;
    EXPECT_EQ(stored("12/25 SUMMARY:\xc2\x9b"
                     "1mNo\xebl"),
              stored("12/25 SUMMARY:1mNo\xc3\xabl"));
    EXPECT_EQ(stored("SUMMARY:Christmas"), "refused");
    EXPECT_EQ(stored(("12/25 SUMMARY:" + std::string(256, 'x')).c_str()), "refused");
    const NonWorkDays days = days_of({"12/25 SUMMARY:Christmas Day", "FREQ=WEEKLY;BYDAY=FR", "12/25/2026",
                                      "FREQ=MONTHLY;BYMONTHDAY=25 SUMMARY:Pay\\, day"});
    EXPECT_EQ(days.names(day("2026-12-25")), "Christmas Day, Pay, day");
    EXPECT_EQ(days.names(day("2026-12-18")), "");
    EXPECT_EQ(days.names(day("2026-12-19")), "");
    // a window's rule can't have a SUMMARY
    EXPECT_FALSE(Recurrence::parse("FREQ=DAILY SUMMARY:x", Zone::utc()));
}

TEST(NonWorkDays, ExamplesOfTheDesignDocument) {
    const NonWorkDays days = days_of({"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1",
                                      "FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5", "07/04", "12/24/2026"});
    EXPECT_TRUE(days.contains(day("2026-01-01")));
    EXPECT_TRUE(days.contains(day("2026-05-25")));
    EXPECT_FALSE(days.contains(day("2026-05-18")));
    EXPECT_TRUE(days.contains(day("2027-07-04")));
    EXPECT_TRUE(days.contains(day("2026-12-24")));
    EXPECT_FALSE(days.contains(day("2027-12-24")));
    EXPECT_EQ(
        days.year(std::chrono::year{2026}),
        (std::vector<LocalDay>{day("2026-01-01"), day("2026-05-25"), day("2026-07-04"), day("2026-12-24")}));
    EXPECT_EQ(days.next(day("2026-07-05")), day("2026-12-24"));
    EXPECT_EQ(days.next(day("2026-12-24")), day("2026-12-24"));
    EXPECT_EQ(days.next(day("2026-12-25")), day("2027-01-01"));
}

TEST(NonWorkDays, LeapDaysAndDaysOfTheYear) {
    const NonWorkDays leap = days_of({"02/29"});
    EXPECT_EQ(leap.next(day("2096-03-01")), day("2104-02-29"));
    const NonWorkDays numbered = days_of({"FREQ=YEARLY;BYYEARDAY=60"});
    EXPECT_TRUE(numbered.contains(day("2024-02-29")));
    EXPECT_TRUE(numbered.contains(day("2025-03-01")));
}

TEST(NonWorkDays, NoneAndOver) {
    EXPECT_FALSE(NonWorkDays{}.contains(day("2026-01-01")));
    EXPECT_EQ(NonWorkDays{}.next(day("2026-01-01")), std::nullopt);
    EXPECT_TRUE(NonWorkDays{}.year(std::chrono::year{2026}).empty());
    EXPECT_EQ(days_of({"12/24/2026"}).next(day("2026-12-25")), std::nullopt);
}

TEST(NonWorkDays, AnErrorNamesTheEntry) {
    const std::vector<std::string> entries{"01/01", "31/12"};
    const auto parsed = NonWorkDays::parse(entries, Zone::utc());
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("'31/12'"));
}

}  // namespace
}  // namespace pbs::rrule::test
