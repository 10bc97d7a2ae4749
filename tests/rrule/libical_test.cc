// Tests rules whose occurrences libical 3.0.16 gets wrong. They were found by comparing it with the
// definition (definition.h) for thousands of random rules. This project expands rules itself (expand.cc). The
// tests don't call libical, as a later version may be right.
#include "rrule/recurrence.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

struct Difference {
    const char* start;
    const char* rule;
    const char* right;    // the first four occurrences
    const char* libical;  // the occurrences according to libical 3.0.16
    const char* what;     // description of libical's mistake
};

const Difference kDifferences[] = {
    {"20200222T000000", "FREQ=DAILY;BYHOUR=19,6",
     "2020-02-22 06:00, 2020-02-22 19:00, 2020-02-23 06:00, 2020-02-23 19:00",
     "2020-02-22 19:00, 2020-02-22 06:00, ...",
     "lists that aren't ascending are taken in the order of the text"},
    {"20200924T083000", "FREQ=WEEKLY;BYDAY=SA,SA,TU",
     "2020-09-26 08:30, 2020-09-29 08:30, 2020-10-03 08:30, 2020-10-06 08:30",
     "2020-09-26 08:30, 2020-09-26 08:30, ...", "what is named twice occurs twice"},
    {"20211028T083000", "FREQ=DAILY;BYMONTHDAY=20,-16",
     "2021-11-15 08:30, 2021-11-20 08:30, 2021-12-16 08:30, 2021-12-20 08:30",
     "2021-11-20 08:30, 2021-12-20 08:30, ...", "negative BYMONTHDAY is left out with DAILY"},
    {"20211028T083000", "FREQ=DAILY;BYMONTHDAY=-16",
     "2021-11-15 08:30, 2021-12-16 08:30, 2022-01-16 08:30, 2022-02-13 08:30", "never",
     "so this never occurs"},
    {"20200508T083000", "FREQ=DAILY;BYMINUTE=1,28;BYSETPOS=2",
     "2020-05-09 08:28, 2020-05-10 08:28, 2020-05-11 08:28, 2020-05-12 08:28",
     "2020-05-09 08:01, 2020-05-09 08:28, ...", "BYSETPOS is left out with DAILY"},
    {"20210807T083000", "FREQ=WEEKLY;BYDAY=TU,FR;BYSETPOS=2",
     "2021-08-13 08:30, 2021-08-20 08:30, 2021-08-27 08:30, 2021-09-03 08:30",
     "2021-08-10 08:30, 2021-08-13 08:30, ...", "and with WEEKLY"},
    {"20200617T083000", "FREQ=WEEKLY;INTERVAL=5;BYMONTH=9;BYDAY=SU",
     "2021-09-19 08:30, 2022-09-04 08:30, 2023-09-24 08:30, 2024-09-08 08:30",
     "2020-09-27 08:30, ... (14 weeks after DTSTART's)", "BYMONTH moves the weeks that INTERVAL counts"},
    {"20200311T083000", "FREQ=MONTHLY;BYMONTHDAY=-8,23;BYSETPOS=-2",
     "2020-03-23 08:30, 2020-05-23 08:30, 2020-07-23 08:30, 2020-08-23 08:30",
     "2020-03-23 08:30, 2020-04-23 08:30, ...",
     "a day that two numbers mean is counted twice (23 April is -8 too)"},
    {"20210305T083000", "FREQ=YEARLY;BYMONTHDAY=10",
     "2021-03-10 08:30, 2021-04-10 08:30, 2021-05-10 08:30, 2021-06-10 08:30",
     "2021-03-10 08:30, 2022-03-10 08:30, ...", "BYMONTHDAY is of DTSTART's month only"},
    {"20210116T083000", "FREQ=YEARLY;BYMONTHDAY=24;BYDAY=WE",
     "2021-02-24 08:30, 2021-03-24 08:30, 2021-11-24 08:30, 2022-08-24 08:30",
     "2024-01-24 08:30, 2029-01-24 08:30, ...", "with BYDAY too"},
    {"20200418T083000", "FREQ=YEARLY;BYMONTHDAY=29,20;BYSETPOS=-2",
     "2020-12-20 08:30, 2021-12-20 08:30, 2022-12-20 08:30, 2023-12-20 08:30",
     "2020-04-20 08:30, 2021-04-20 08:30, ...", "and with BYSETPOS"},
    {"20210122T083000", "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=TH",
     "2021-12-30 08:30, 2022-12-29 08:30, 2023-12-28 08:30, 2024-12-26 08:30", "2022-12-29 08:30, ...",
     "weeks counted from the end are wrong in some years"},
    {"20211127T083000", "FREQ=YEARLY;BYWEEKNO=-18;BYDAY=SA;WKST=TH",
     "2022-08-27 08:30, 2023-09-02 08:30, 2024-08-31 08:30, 2025-08-30 08:30",
     "2022-08-27 08:30, 2023-08-26 08:30, ...", "with another WKST in others"},
    {"20201022T083000", "FREQ=YEARLY;BYWEEKNO=53",
     "2020-12-31 08:30, 2026-12-31 08:30, 2032-12-30 08:30, 2037-12-31 08:30", "refused",
     "BYWEEKNO without BYDAY: the weekday is DTSTART's"},
    {"20210628T083000", "FREQ=YEARLY;BYMONTH=4,11;BYWEEKNO=14",
     "2022-04-04 08:30, 2023-04-03 08:30, 2024-04-01 08:30, 2027-04-05 08:30", "refused",
     "BYMONTH with BYWEEKNO"},
    {"20210628T083000", "FREQ=YEARLY;BYMONTHDAY=7,14;BYDAY=MO,FR;BYSETPOS=3",
     "2022-02-07 08:30, 2023-07-07 08:30, 2024-10-07 08:30, 2025-03-07 08:30", "refused",
     "it finds no third one in DTSTART's month"},
    {"20210728T083000", "FREQ=YEARLY;BYYEARDAY=57,105;BYMONTHDAY=26",
     "2022-02-26 08:30, 2023-02-26 08:30, 2024-02-26 08:30, 2025-02-26 08:30", "refused",
     "BYYEARDAY with BYMONTHDAY"},
};

TEST(Libical, WhereItIsWrongTheEngineIsNot) {
    for (const Difference& row : kDifferences) {
        SCOPED_TRACE(std::string(row.what) + "; libical 3.0.16: " + row.libical);
        const auto rule =
            Recurrence::parse(std::string("DTSTART:") + row.start + " " + row.rule, Zone::utc());
        ASSERT_TRUE(rule) << row.rule << ": " << rule.error().message;
        std::string found;
        int count = 0;
        for (const Local l : rule->occurrences(local("2019-01-01"), local("2060-01-01"))) {
            if (count++ == 4) break;
            found += (found.empty() ? "" : ", ") + text(l);
        }
        EXPECT_EQ(found, row.right) << row.rule;
    }
}

// The rule never occurs, as the days of its BYYEARDAY aren't in its months. libical searches hour by hour up
// to the year 2582, which takes minutes. This project refuses the rule at once.
TEST(Libical, WhereItSearchesForMinutesTheEngineRefusesAtOnce) {
    const auto refused =
        Recurrence::parse("DTSTART:20200101T000000 FREQ=HOURLY;BYMONTH=1,7;BYYEARDAY=-330,-235", Zone::utc());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("never occurs"));
}

// libical finds no occurrence after 2582; this project does.
TEST(Libical, WhereItEndsTheEngineGoesOn) {
    const auto rule = Recurrence::parse("DTSTART:20200101T083000 FREQ=YEARLY;BYDAY=1MO", Zone::utc());
    ASSERT_TRUE(rule);
    const auto found = rule->occurrences(local("2583-01-01"), local("2585-01-01"));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(text(found[0]), "2583-01-06 08:30");
    EXPECT_EQ(text(found[1]), "2584-01-05 08:30");
}

}  // namespace
}  // namespace pbs::rrule::test
