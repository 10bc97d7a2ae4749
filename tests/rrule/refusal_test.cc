// Tests rules that are refused: the reason, and the position of the error in the text.
#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

struct Refusal {
    const char* rule;
    const char* message;
    int position;  // position of the error in the rule; -1: none
};

TEST(Refusal, Rules) {
    const Refusal refusals[] = {
        {"", "the rule is empty", 0},
        {"   ", "the rule is empty", 0},
        {"hello", "'hello' is not a rule such as", 0},
        {"FREQ=DAILY;", "'' is not a part NAME=VALUE of a rule", 11},
        {"FREQ", "is not a rule such as", 0},
        {"INTERVAL=2", "FREQ is missing", 0},
        {"FREQ=FORTNIGHTLY", "FREQ='FORTNIGHTLY' is unknown", 5},
        {"FREQ=MINUTELY", "FREQ=MINUTELY is too frequent", 5},
        {"RRULE:FREQ=SECONDLY", "FREQ=SECONDLY is too frequent", 11},
        {"FREQ=DAILY;FREQ=DAILY", "FREQ is given twice", 11},
        {"FREQ=DAILY;BYEASTER=0", "'BYEASTER' is not a supported part of a recurrence rule", 11},
        {"FREQ=DAILY;RSCALE=GREGORIAN", "'RSCALE' is not a supported part", 11},
        {"FREQ=DAILY;INTERVAL=0", "INTERVAL='0' is not a number from 1 to 32767", 20},
        {"FREQ=DAILY;INTERVAL=-1", "INTERVAL='-1' is not a number", 20},
        {"FREQ=DAILY;INTERVAL=99999999999999999999", "is not a number from 1 to 32767", 20},
        {"FREQ=WEEKLY;BYDAY=MO,XX", "'XX' in BYDAY is not a weekday", 21},
        {"FREQ=WEEKLY;BYDAY=", "'' in BYDAY is not a weekday", 18},
        {"FREQ=MONTHLY;BYDAY=0MO", "'0MO' in BYDAY is not a weekday", 19},
        {"FREQ=MONTHLY;BYDAY=54MO", "'54MO' in BYDAY", 19},
        {"FREQ=MONTHLY;BYDAY=+MO", "'+MO' in BYDAY", 19},
        {"FREQ=WEEKLY;BYDAY=2MO", "needs FREQ=MONTHLY or FREQ=YEARLY", 0},
        {"FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO", "can't be used with BYWEEKNO", 0},
        {"FREQ=MONTHLY;BYWEEKNO=20", "BYWEEKNO needs FREQ=YEARLY", 0},
        {"FREQ=MONTHLY;BYYEARDAY=20", "BYYEARDAY needs FREQ=YEARLY", 0},
        {"FREQ=WEEKLY;BYMONTHDAY=20", "BYMONTHDAY can't be used with FREQ=WEEKLY", 0},
        {"FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS needs another BY part", 0},
        {"FREQ=YEARLY;BYMONTH=13", "'13' in BYMONTH is not a number from 1 to 12", 20},
        {"FREQ=YEARLY;BYMONTH=-1", "'-1' in BYMONTH is not a number from 1 to 12", 20},
        {"FREQ=YEARLY;BYMONTHDAY=0", "'0' in BYMONTHDAY is not a number from 1 (or -1) to 31 (or -31)", 23},
        {"FREQ=YEARLY;BYYEARDAY=367", "'367' in BYYEARDAY", 22},
        {"FREQ=DAILY;BYHOUR=24", "'24' in BYHOUR is not a number from 0 to 23", 18},
        {"FREQ=DAILY;WKST=XX", "WKST='XX' is not a weekday", 16},
        {"FREQ=DAILY;COUNT=2;UNTIL=20300101", "COUNT and UNTIL are given together", 0},
        {"FREQ=DAILY;COUNT=2", "has COUNT but no DTSTART", -1},
        {"DTSTART:20260101 FREQ=DAILY;COUNT=0", "COUNT='0' is not a number from 1", 34},
        {"FREQ=DAILY;UNTIL=20261301", "'20261301' is not a date YYYYMMDD", 17},
        {"FREQ=DAILY;UNTIL=20260229", "'20260229' is not a date", 17},
        {"FREQ=DAILY;UNTIL=20260201T2500", "is not a date YYYYMMDD", 17},
        {"FREQ=DAILY FREQ=DAILY", "is a second rule", 11},
        {"DTSTART:20260101 DTSTART:20260101 FREQ=DAILY", "DTSTART is given twice", 17},
        {"DTSTART:20260101,20260102 FREQ=DAILY", "DTSTART has several dates", 0},
        {"DTSTART20260101 FREQ=DAILY", "a ':' is missing", 7},
        {"DTSTART;TZID=Mars/Olympus:20260101T000000 FREQ=DAILY", "'Mars/Olympus' is not a time zone", 13},
        {"DTSTART;TZID=Europe/Berlin:20260101T000000Z FREQ=DAILY", "is in UTC (Z) although TZID", 27},
        {"DTSTART;VALUE=DATE:20260101T000000 FREQ=DAILY", "has a time although VALUE=DATE", 19},
        {"RDATE;VALUE=PERIOD:20260101T000000Z/PT1H", "'VALUE=PERIOD' is not supported", 6},
        {"EXRULE:FREQ=DAILY", "'EXRULE:FREQ' is not a supported part", 0},
        {"EXDATE:20260101", "has no rule and no date", -1},
        {"RDATE:20260101 EXDATE:20260101", "never occurs: EXDATE removes every date", -1},
        {"DTSTART:20260101 FREQ=DAILY;COUNT=2 EXDATE:20260101,20260102",
         "never occurs: EXDATE removes every date", -1},
        {"DTSTART:20260101T080000 FREQ=DAILY;BYHOUR=8,9;UNTIL=20260101T230000 EXDATE:20260101",
         "never occurs: EXDATE removes every date", -1},
        {"DTSTART:20260130 FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=3", "never occurs", -1},
        {"FREQ=MONTHLY;BYDAY=6MO", "never occurs up to the year 9999", -1},
        {"FREQ=YEARLY;BYMONTH=2;BYDAY=5MO;BYMONTHDAY=28", "never occurs up to the year 9999", -1},
        {"FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6", "never occurs up to the year 9999", -1},
        {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never occurs up to the year 9999", -1},
        {"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "never occurs up to the year 9999", -1},
        {"FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", "never occurs up to the year 9999", -1},
        {"FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "never occurs up to the year 9999", -1},
        {"FREQ=HOURLY;INTERVAL=2;BYHOUR=1,3", "never occurs up to the year 9999", -1},
        {"FREQ=YEARLY;INTERVAL=2;BYYEARDAY=366", "never occurs up to the year 9999", -1},
        {"FREQ=MONTHLY;INTERVAL=12;BYMONTH=3", "never occurs up to the year 9999", -1},
        {"DTSTART:20260101 FREQ=DAILY;UNTIL=20251231", "never occurs before its UNTIL", -1},
    };
    for (const Refusal& r : refusals) {
        const auto parsed = Recurrence::parse(r.rule, Zone::utc());
        ASSERT_FALSE(parsed) << r.rule;
        EXPECT_THAT(parsed.error().message, testing::HasSubstr(r.message)) << r.rule;
        EXPECT_EQ(parsed.error().position ? static_cast<int>(*parsed.error().position) : -1, r.position)
            << r.rule;
    }
}

TEST(Refusal, ATextThatIsTooLong) {
    const auto parsed = Recurrence::parse("FREQ=DAILY" + std::string(9000, ' '), Zone::utc());
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("is too long"));
}

TEST(Refusal, ErrorsQuoteOnlyPrintableText) {
    const auto parsed = Recurrence::parse("FREQ=\x01\xff" + std::string(200, 'x'), Zone::utc());
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("FREQ='??xxx"));
    EXPECT_LT(parsed.error().message.size(), 200U);
}

TEST(Refusal, WindowTimes) {
    const auto make = [](std::optional<Seconds> start, std::optional<Seconds> end) {
        return Window::make({"FREQ=DAILY", start, end, true}, Zone::utc());
    };
    EXPECT_THAT(make(hm(24), hm(24)).error().message, testing::HasSubstr("has no length"));
    EXPECT_THAT(make(hm(24), hm(1)).error().message,
                testing::HasSubstr("start_time 24:00:00 is not a time of day"));
    EXPECT_THAT(make(hm(1), hm(25)).error().message,
                testing::HasSubstr("end_time 25:00:00 is not a time of day"));
    EXPECT_TRUE(make(std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace pbs::rrule::test
