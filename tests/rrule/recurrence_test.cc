#include "rrule/recurrence.h"

#include <sstream>

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

using testing::ElementsAre;

// The examples of RFC 5545, 3.8.5.3: DTSTART (in America/New_York, at 09:00 if no time is given), the rule,
// and its first occurrences as lists of month/day by year. "..." means that more occurrences follow.
struct Example {
    const char* start;
    const char* rule;
    const char* expected;
};

const Example kExamples[] = {
    {"19970902T090000", "FREQ=DAILY;COUNT=10", "1997: 9/2 9/3 9/4 9/5 9/6 9/7 9/8 9/9 9/10 9/11"},
    {"19970902T090000", "FREQ=DAILY;UNTIL=19971224T000000Z",
     "1997: 9/2 9/3 9/4 9/5 9/6 9/7 9/8 9/9 9/10 9/11 9/12 9/13 9/14 9/15 9/16 9/17 9/18 9/19 9/20 9/21 9/22 "
     "9/23 9/24 9/25 9/26 9/27 9/28 9/29 9/30 10/1 10/2 10/3 10/4 10/5 10/6 10/7 10/8 10/9 10/10 10/11 10/12 "
     "10/13 10/14 10/15 10/16 10/17 10/18 10/19 10/20 10/21 10/22 10/23 10/24 10/25 10/26 10/27 10/28 10/29 "
     "10/30 10/31 11/1 11/2 11/3 11/4 11/5 11/6 11/7 11/8 11/9 11/10 11/11 11/12 11/13 11/14 11/15 11/16 "
     "11/17 11/18 11/19 11/20 11/21 11/22 11/23 11/24 11/25 11/26 11/27 11/28 11/29 11/30 12/1 12/2 12/3 "
     "12/4 12/5 12/6 12/7 12/8 12/9 12/10 12/11 12/12 12/13 12/14 12/15 12/16 12/17 12/18 12/19 12/20 12/21 "
     "12/22 12/23"},
    {"19970902T090000", "FREQ=DAILY;INTERVAL=2", "1997: 9/2 9/4 9/6 9/8 9/10 ..."},
    {"19970902T090000", "FREQ=DAILY;INTERVAL=10;COUNT=5", "1997: 9/2 9/12 9/22 10/2 10/12"},
    {"19970902T090000", "FREQ=WEEKLY;COUNT=10", "1997: 9/2 9/9 9/16 9/23 9/30 10/7 10/14 10/21 10/28 11/4"},
    {"19970902T090000", "FREQ=WEEKLY;UNTIL=19971224T000000Z",
     "1997: 9/2 9/9 9/16 9/23 9/30 10/7 10/14 10/21 10/28 11/4 11/11 11/18 11/25 12/2 12/9 12/16 12/23"},
    {"19970902T090000", "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
     "1997: 9/2 9/16 9/30 10/14 10/28 11/11 11/25 12/9 12/23 1998: 1/6 1/20 2/3 ..."},
    {"19970902T090000", "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
     "1997: 9/2 9/4 9/9 9/11 9/16 9/18 9/23 9/25 9/30 10/2"},
    {"19970902T090000", "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH",
     "1997: 9/2 9/4 9/9 9/11 9/16 9/18 9/23 9/25 9/30 10/2"},
    {"19970901T090000", "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
     "1997: 9/1 9/3 9/5 9/15 9/17 9/19 9/29 10/1 10/3 10/13 10/15 10/17 10/27 10/29 10/31 11/10 11/12 11/14 "
     "11/24 11/26 11/28 12/8 12/10 12/12 12/22"},
    {"19970902T090000", "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
     "1997: 9/2 9/4 9/16 9/18 9/30 10/2 10/14 10/16"},
    {"19970905T090000", "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
     "1997: 9/5 10/3 11/7 12/5 1998: 1/2 2/6 3/6 4/3 5/1 6/5"},
    {"19970905T090000", "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", "1997: 9/5 10/3 11/7 12/5"},
    {"19970907T090000", "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
     "1997: 9/7 9/28 11/2 11/30 1998: 1/4 1/25 3/1 3/29 5/3 5/31"},
    {"19970922T090000", "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997: 9/22 10/20 11/17 12/22 1998: 1/19 2/16"},
    {"19970928T090000", "FREQ=MONTHLY;BYMONTHDAY=-3", "1997: 9/28 10/29 11/28 12/29 1998: 1/29 2/26 ..."},
    {"19970902T090000", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
     "1997: 9/2 9/15 10/2 10/15 11/2 11/15 12/2 12/15 1998: 1/2 1/15"},
    {"19970930T090000", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
     "1997: 9/30 10/1 10/31 11/1 11/30 12/1 12/31 1998: 1/1 1/31 2/1"},
    {"19970910T090000", "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
     "1997: 9/10 9/11 9/12 9/13 9/14 9/15 1999: 3/10 3/11 3/12 3/13"},
    {"19970902T090000", "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
     "1997: 9/2 9/9 9/16 9/23 9/30 11/4 11/11 11/18 11/25 1998: 1/6 1/13 1/20 1/27 3/3 3/10 3/17 3/24 3/31 "
     "..."},
    {"19970610T090000", "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
     "1997: 6/10 7/10 1998: 6/10 7/10 1999: 6/10 7/10 2000: 6/10 7/10 2001: 6/10 7/10"},
    {"19970310T090000", "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
     "1997: 3/10 1999: 1/10 2/10 3/10 2001: 1/10 2/10 3/10 2003: 1/10 2/10 3/10"},
    {"19970101T090000", "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
     "1997: 1/1 4/10 7/19 2000: 1/1 4/9 7/18 2003: 1/1 4/10 7/19 2006: 1/1"},
    {"19970519T090000", "FREQ=YEARLY;BYDAY=20MO", "1997: 5/19 1998: 5/18 1999: 5/17 ..."},
    {"19970512T090000", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997: 5/12 1998: 5/11 1999: 5/17 ..."},
    {"19970313T090000", "FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
     "1997: 3/13 3/20 3/27 1998: 3/5 3/12 3/19 3/26 1999: 3/4 3/11 3/18 3/25 ..."},
    {"19970605T090000", "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
     "1997: 6/5 6/12 6/19 6/26 7/3 7/10 7/17 7/24 7/31 8/7 8/14 8/21 8/28 1998: 6/4 6/11 6/18 6/25 7/2 ..."},
    {"19970902T090000", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
     "1998: 2/13 3/13 11/13 1999: 8/13 2000: 10/13 ..."},
    {"19970913T090000", "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
     "1997: 9/13 10/11 11/8 12/13 1998: 1/10 2/7 3/7 4/11 5/9 6/13 ..."},
    {"19961105T090000", "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
     "1996: 11/5 2000: 11/7 2004: 11/2 ..."},
    {"19970904T090000", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997: 9/4 10/7 11/6"},
    {"19970929T090000", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
     "1997: 9/29 10/30 11/27 12/30 1998: 1/29 2/26 3/30 ..."},
    {"19970805T090000", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997: 8/5 8/10 8/19 8/24"},
    {"19970805T090000", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997: 8/5 8/17 8/19 8/31"},
    {"20070115T090000", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007: 1/15 1/30 2/15 3/15 3/30"},
};

std::vector<std::string> expected_dates(const Example& example, bool& open_ended) {
    std::vector<std::string> out;
    std::istringstream words(example.expected);
    std::string word;
    std::string year;
    open_ended = false;
    while (words >> word) {
        if (word == "...") {
            open_ended = true;
        } else if (word.back() == ':') {
            year = word.substr(0, 4);
        } else {
            const auto slash = word.find('/');
            char date[40];
            std::snprintf(date, sizeof date, "%s-%02d-%02d 09:00", year.c_str(),
                          std::stoi(word.substr(0, slash)), std::stoi(word.substr(slash + 1)));
            out.emplace_back(date);
        }
    }
    return out;
}

TEST(Recurrence, ExamplesOfRfc5545) {
    for (const Example& example : kExamples) {
        const std::string source =
            std::string("DTSTART;TZID=America/New_York:") + example.start + "\nRRULE:" + example.rule;
        const auto rule = Recurrence::parse(source, Zone::utc());
        ASSERT_TRUE(rule) << source << ": " << rule.error().message;
        EXPECT_EQ(rule->zone().name(), "America/New_York");
        bool open_ended = false;
        const auto expected = expected_dates(example, open_ended);
        std::vector<std::string> found;
        for (const Local l : rule->occurrences(local("1990-01-01"), local("2012-01-01")))
            found.push_back(text(l));
        EXPECT_EQ(rule->last_day().has_value(), !open_ended) << source;
        if (open_ended) found.resize(std::min(found.size(), expected.size()));
        EXPECT_EQ(found, expected) << source;
    }
}

// The RFC gives these occurrences in EDT and EST: 09:00 in New York is 13:00Z in summer, and 14:00Z in
// winter.
TEST(Recurrence, ExamplesOfRfc5545AsInstants) {
    const auto rule = Recurrence::parse(
        "DTSTART;TZID=America/New_York:19970902T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU", Zone::utc());
    std::vector<std::string> found;
    for (const Instant t : rule->instants(utc("1997-10-01"), utc("1997-12-01"))) found.push_back(text(t));
    EXPECT_THAT(found,
                ElementsAre("1997-10-14 13:00", "1997-10-28 14:00", "1997-11-11 14:00", "1997-11-25 14:00"));
}

// The examples of RFC 5545 with several times a day, an EXDATE, or a FREQ that is too frequent for a window.
TEST(Recurrence, ExamplesOfRfc5545OfOtherKinds) {
    const auto parse = [](const std::string& start, const std::string& lines) {
        return Recurrence::parse("DTSTART;TZID=America/New_York:" + start + '\n' + lines, Zone::utc(),
                                 Seconds{0}, Recurrence::Finest::minutely);
    };
    const auto list = [&](const std::string& start, const std::string& lines, const char* to) {
        std::vector<std::string> out;
        const auto rule = parse(start, lines);
        EXPECT_TRUE(rule) << lines;
        if (rule)
            for (const Local l : rule->occurrences(local("1990-01-01"), local(to))) out.push_back(text(l));
        return out;
    };
    EXPECT_THAT(
        list("19970902T090000",
             "EXDATE;TZID=America/New_York:19970902T090000\nRRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
             "2000-12-31"),
        ElementsAre("1998-02-13 09:00", "1998-03-13 09:00", "1998-11-13 09:00", "1999-08-13 09:00",
                    "2000-10-13 09:00"));
    // UNTIL is 17:00Z, which is 13:00 EDT. The RFC's list goes on to 15:00, as if UNTIL were a local time.
    EXPECT_THAT(list("19970902T090000", "RRULE:FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z", "1998-01-01"),
                ElementsAre("1997-09-02 09:00", "1997-09-02 12:00"));
    const auto every_20_minutes = list(
        "19970902T090000", "RRULE:FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40", "1997-09-04");
    ASSERT_EQ(every_20_minutes.size(), 48U);
    EXPECT_EQ(every_20_minutes.front(), "1997-09-02 09:00");
    EXPECT_EQ(every_20_minutes[1], "1997-09-02 09:20");
    EXPECT_EQ(every_20_minutes[23], "1997-09-02 16:40");
    EXPECT_EQ(every_20_minutes[24], "1997-09-03 09:00");
    EXPECT_THAT(list("19970902T090000", "RRULE:FREQ=MINUTELY;INTERVAL=15;COUNT=6", "1998-01-01"),
                ElementsAre("1997-09-02 09:00", "1997-09-02 09:15", "1997-09-02 09:30", "1997-09-02 09:45",
                            "1997-09-02 10:00", "1997-09-02 10:15"));
    EXPECT_THAT(list("19970902T090000", "RRULE:FREQ=MINUTELY;INTERVAL=90;COUNT=4", "1998-01-01"),
                ElementsAre("1997-09-02 09:00", "1997-09-02 10:30", "1997-09-02 12:00", "1997-09-02 13:30"));
    EXPECT_EQ(list("19970902T090000", "RRULE:FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16",
                   "1997-09-04"),
              every_20_minutes);
}

TEST(Recurrence, MinutesAreRefusedUnlessTheyAreAskedFor) {
    const auto refused = Recurrence::parse("DTSTART:20260101T000000 FREQ=MINUTELY;COUNT=2", Zone::utc());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                testing::HasSubstr("FREQ=MINUTELY is too frequent, expected HOURLY"));
    EXPECT_EQ(refused.error().position, 29U);
    const auto finer =
        Recurrence::parse("FREQ=SECONDLY", Zone::utc(), Seconds{0}, Recurrence::Finest::minutely);
    ASSERT_FALSE(finer);
    EXPECT_THAT(finer.error().message, testing::HasSubstr("too frequent, expected MINUTELY, HOURLY"));
}

// RFC 5545, 3.3.10, has a table of each BY part with each FREQ: the part either limits the occurrences (there
// are fewer than without it) or expands them (there are more). Each row here counts the occurrences in 2024,
// a leap year that begins on a Monday.
TEST(Recurrence, TheTableOfByParts) {
    struct Cell {
        const char* rule;
        std::size_t occurrences;  // number of occurrences in 2024, from DTSTART 2024-01-01 00:00 on
    };
    const Cell cells[] = {
        {"FREQ=MINUTELY", 366 * 1440},
        {"FREQ=MINUTELY;BYMONTH=2", 29 * 1440},
        {"FREQ=MINUTELY;BYYEARDAY=366", 1440},
        {"FREQ=MINUTELY;BYMONTHDAY=31", 7 * 1440},
        {"FREQ=MINUTELY;BYDAY=MO", 53 * 1440},
        {"FREQ=MINUTELY;BYHOUR=5,6", 366 * 2 * 60},
        {"FREQ=MINUTELY;BYMINUTE=0,30", 366 * 48},
        {"FREQ=MINUTELY;BYSECOND=0,30", 366 * 2880},
        {"FREQ=MINUTELY;BYSECOND=0,30;BYSETPOS=-1", 366 * 1440},
        {"FREQ=HOURLY", 366 * 24},
        {"FREQ=HOURLY;BYMONTH=2", 29 * 24},
        {"FREQ=HOURLY;BYYEARDAY=366", 24},
        {"FREQ=HOURLY;BYMONTHDAY=31", 7 * 24},
        {"FREQ=HOURLY;BYDAY=MO", 53 * 24},
        {"FREQ=HOURLY;BYHOUR=5,6", 366 * 2},
        {"FREQ=HOURLY;BYMINUTE=0,30", 366 * 48},
        {"FREQ=HOURLY;BYSECOND=0,30", 366 * 48},
        {"FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=1", 366 * 24},
        {"FREQ=DAILY;BYMONTH=2", 29},
        {"FREQ=DAILY;BYMONTHDAY=31", 7},
        {"FREQ=DAILY;BYDAY=MO", 53},
        {"FREQ=DAILY;BYHOUR=5,6", 366 * 2},
        {"FREQ=DAILY;BYMINUTE=0,30", 366 * 2},
        {"FREQ=DAILY;BYSECOND=0,30", 366 * 2},
        {"FREQ=DAILY;BYHOUR=5,6,7;BYSETPOS=-1,1", 366 * 2},
        {"FREQ=WEEKLY;BYMONTH=2", 4},
        {"FREQ=WEEKLY;BYDAY=MO,TU", 53 + 53},
        {"FREQ=WEEKLY;BYHOUR=5,6", 53 * 2},
        {"FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=2", 53},
        {"FREQ=MONTHLY;BYMONTH=2,3", 2},
        {"FREQ=MONTHLY;BYMONTHDAY=30,31", 11 + 7},
        {"FREQ=MONTHLY;BYDAY=MO", 53},
        {"FREQ=MONTHLY;BYDAY=1MO,-1MO", 24},
        {"FREQ=MONTHLY;BYDAY=MO;BYMONTHDAY=1", 3},
        {"FREQ=MONTHLY;BYHOUR=5,6", 24},
        {"FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", 12},
        {"FREQ=YEARLY;BYMONTH=2,3", 2},
        {"FREQ=YEARLY;BYWEEKNO=1,20,52", 4},  // week 1 of 2025 begins on 30 December 2024
        {"FREQ=YEARLY;BYWEEKNO=1,20;BYMONTH=5", 1},
        {"FREQ=YEARLY;BYYEARDAY=1,-1,100", 3},
        {"FREQ=YEARLY;BYYEARDAY=1,32;BYMONTH=2", 1},
        {"FREQ=YEARLY;BYMONTHDAY=31", 7},
        {"FREQ=YEARLY;BYMONTHDAY=31;BYYEARDAY=31", 1},
        {"FREQ=YEARLY;BYDAY=MO", 53},
        {"FREQ=YEARLY;BYDAY=1MO,-1MO,53MO", 2},
        {"FREQ=YEARLY;BYDAY=1MO;BYMONTH=2,3", 2},
        {"FREQ=YEARLY;BYDAY=MO;BYMONTH=2", 4},
        {"FREQ=YEARLY;BYDAY=MO,TU;BYWEEKNO=20", 2},
        {"FREQ=YEARLY;BYDAY=MO;BYYEARDAY=1,2,8", 2},
        {"FREQ=YEARLY;BYDAY=FR;BYMONTHDAY=13", 2},
        {"FREQ=YEARLY;BYHOUR=5,6", 2},
        {"FREQ=YEARLY;BYMONTH=1;BYDAY=MO,TU;BYSETPOS=1,-1", 2},
        // dates that don't exist give no occurrence, instead of one on another day
        {"FREQ=MONTHLY;BYMONTHDAY=31", 7},
        {"FREQ=MONTHLY;BYMONTHDAY=-31", 7},
        {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", 1},
    };
    for (const Cell& cell : cells) {
        const auto rule = Recurrence::parse(std::string("DTSTART:20240101T000000 ") + cell.rule, Zone::utc(),
                                            Seconds{0}, Recurrence::Finest::minutely);
        ASSERT_TRUE(rule) << cell.rule << rule.error().message;
        EXPECT_EQ(rule->occurrences(local("2024-01-01"), local("2025-01-01")).size(), cell.occurrences)
            << cell.rule;
    }
}

TEST(Recurrence, TimesAreIgnoredWhenDtstartIsADate) {
    // RFC 5545, 3.3.10, says for a DTSTART that is a date: "BYSECOND, BYMINUTE and BYHOUR ... MUST be
    // ignored"
    const auto days = Recurrence::parse(
        "DTSTART;VALUE=DATE:20260101 FREQ=MONTHLY;BYMONTHDAY=1,2;BYHOUR=6,18;BYSETPOS=2", Zone::utc());
    EXPECT_EQ(text(days->days(day("2026-01-01"), day("2026-03-01"))), "2: 2026-01-02 2026-02-02");
    const auto times = Recurrence::parse(
        "DTSTART:20260101T000000 FREQ=MONTHLY;BYMONTHDAY=1,2;BYHOUR=6,18;BYSETPOS=2", Zone::utc());
    EXPECT_EQ(text(times->days(day("2026-01-01"), day("2026-03-01"))), "2: 2026-01-01 2026-02-01");
}

TEST(Recurrence, EveryDayInJanuaryForThreeYearsIsTheSameYearlyAndDaily) {
    // RFC 5545, 3.8.5.3, gives both as examples of the same rule
    const char* start = "DTSTART;TZID=America/New_York:19980101T090000 ";
    const auto yearly = Recurrence::parse(
        std::string(start) + "RRULE:FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA",
        Zone::utc());
    const auto daily = Recurrence::parse(
        std::string(start) + "RRULE:FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", Zone::utc());
    ASSERT_TRUE(yearly && daily);
    const auto a = yearly->occurrences(local("1990-01-01"), local("2010-01-01"));
    EXPECT_EQ(a, daily->occurrences(local("1990-01-01"), local("2010-01-01")));
    EXPECT_EQ(a.size(), 93U);
    EXPECT_EQ(text(a.back()), "2000-01-31 09:00");
}

std::vector<std::string> list(const std::string& rule, const char* from, const char* to,
                              Seconds at = Seconds{0}) {
    const auto parsed = Recurrence::parse(rule, zone("Europe/Berlin"), at);
    EXPECT_TRUE(parsed) << rule << ": " << parsed.error().message;
    std::vector<std::string> out;
    if (parsed)
        for (const Local l : parsed->occurrences(local(from), local(to))) out.push_back(text(l));
    return out;
}

TEST(Recurrence, HourlyExamples) {
    EXPECT_THAT(list("DTSTART:19970902T090000 FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000", "1997-01-01",
                     "1998-01-01"),
                ElementsAre("1997-09-02 09:00", "1997-09-02 12:00", "1997-09-02 15:00"));
    EXPECT_THAT(list("DTSTART:20260101T003000 FREQ=HOURLY;INTERVAL=30", "2026-01-01", "2026-01-04"),
                ElementsAre("2026-01-01 00:30", "2026-01-02 06:30", "2026-01-03 12:30"));
    EXPECT_THAT(
        list("FREQ=HOURLY;BYHOUR=5;BYMINUTE=0,15,30;BYSETPOS=-1,1;BYDAY=SU", "2026-11-21", "2026-11-28"),
        ElementsAre("2026-11-22 05:00", "2026-11-22 05:30"));
    EXPECT_THAT(list("FREQ=HOURLY;BYHOUR=0;BYYEARDAY=1,-1", "2024-01-01", "2025-01-01"),
                ElementsAre("2024-01-01 00:00", "2024-12-31 00:00"));
}

TEST(Recurrence, TimesOfDay) {
    EXPECT_THAT(list("FREQ=DAILY;BYHOUR=9,7;BYMINUTE=30", "2026-01-01", "2026-01-02"),
                ElementsAre("2026-01-01 07:30", "2026-01-01 09:30"));
    EXPECT_THAT(list("DTSTART:20260105T080000 FREQ=DAILY", "2026-01-01", "2026-01-01"), testing::IsEmpty());
    EXPECT_THAT(list("FREQ=MONTHLY;BYMONTHDAY=1,2;BYHOUR=6,18;BYSETPOS=2,-1", "2026-01-01", "2026-02-01"),
                ElementsAre("2026-01-01 18:00", "2026-01-02 18:00"));
}

TEST(Recurrence, WithoutDtstartItHasAlwaysRecurredFromTheEpoch) {
    const auto daily = Recurrence::parse("FREQ=DAILY", Zone::utc());
    EXPECT_EQ(daily->first_day(), std::nullopt);
    EXPECT_EQ(daily->last_day(), std::nullopt);
    EXPECT_EQ(daily->days(day("1605-02-01"), day("1605-02-04")).size(), 3U);
    EXPECT_EQ(daily->days(day("9999-12-30"), day("9999-12-31") + std::chrono::days{9}).size(), 2U);
    // without DTSTART, every second week is counted from the week of 1601-01-01
    EXPECT_THAT(list("FREQ=WEEKLY;BYDAY=FR;INTERVAL=2", "2026-11-01", "2026-12-01"),
                ElementsAre("2026-11-13 00:00", "2026-11-27 00:00"));
    // parts that DTSTART would give are taken from 1601-01-01, a Monday
    EXPECT_THAT(list("FREQ=WEEKLY", "2026-11-20", "2026-12-01"),
                ElementsAre("2026-11-23 00:00", "2026-11-30 00:00"));
    EXPECT_THAT(list("FREQ=MONTHLY", "2026-11-02", "2027-01-02"),
                ElementsAre("2026-12-01 00:00", "2027-01-01 00:00"));
    EXPECT_THAT(list("FREQ=YEARLY", "2026-11-02", "2029-01-01"),
                ElementsAre("2027-01-01 00:00", "2028-01-01 00:00"));
    EXPECT_THAT(list("FREQ=YEARLY;BYMONTH=5;BYDAY=MO;BYSETPOS=-1", "2026-01-01", "2028-01-01", hm(6)),
                ElementsAre("2026-05-25 06:00", "2027-05-31 06:00"));
}

TEST(Recurrence, RdateAndExdate) {
    EXPECT_THAT(list("RDATE:20260704,20261225 RDATE:20260101", "2026-01-01", "2027-01-01"),
                ElementsAre("2026-01-01 00:00", "2026-07-04 00:00", "2026-12-25 00:00"));
    EXPECT_THAT(
        list("FREQ=WEEKLY;BYDAY=MO EXDATE:20261123 RDATE:20261124,20261130", "2026-11-20", "2026-12-01"),
        ElementsAre("2026-11-24 00:00", "2026-11-30 00:00"));
    // without DTSTART, an EXDATE excludes a whole day; with DTSTART, an EXDATE with a time excludes only that
    // time
    EXPECT_THAT(list("FREQ=WEEKLY;BYDAY=MO EXDATE:20261123T101500", "2026-11-20", "2026-12-01"),
                ElementsAre("2026-11-30 00:00"));
    EXPECT_THAT(
        list("DTSTART:20261123T080000 FREQ=DAILY;BYHOUR=8,20;COUNT=4 EXDATE:20261123T200000 EXDATE:20261124",
             "2026-11-20", "2026-12-01"),
        ElementsAre("2026-11-23 08:00"));
    // DTSTART without a rule is a single occurrence
    EXPECT_THAT(list("DTSTART:20261123T080000", "2026-01-01", "2027-01-01"), ElementsAre("2026-11-23 08:00"));
}

TEST(Recurrence, UntilInUtcAgainstLocalOccurrences) {
    // 08:00 in Berlin is 07:00Z in winter, and 06:00Z in summer
    const std::string rule = "DTSTART;TZID=Europe/Berlin:20261121T080000 FREQ=DAILY;UNTIL=";
    EXPECT_EQ(list(rule + "20261123T065959Z", "2026-01-01", "2027-01-01").size(), 2U);
    EXPECT_EQ(list(rule + "20261123T070000Z", "2026-01-01", "2027-01-01").size(), 3U);
    EXPECT_EQ(list(rule + "20261123", "2026-01-01", "2027-01-01").size(), 3U);
    EXPECT_EQ(list(rule + "20261123T080000", "2026-01-01", "2027-01-01").size(), 3U);
    // without DTSTART, the time of an occurrence is the window's start_time
    EXPECT_EQ(list("FREQ=DAILY;UNTIL=20261123T070000Z", "2026-11-22", "2027-01-01", hm(8)).size(), 2U);
    EXPECT_EQ(list("FREQ=DAILY;UNTIL=20261123T070000Z", "2026-11-22", "2027-01-01", hm(9)).size(), 1U);
}

TEST(Recurrence, ZonesOfDatesAreConvertedToThatOfDtstart) {
    EXPECT_THAT(list("DTSTART;TZID=America/New_York:20260601T090000 RRULE:FREQ=DAILY;COUNT=3 "
                     "EXDATE;TZID=Europe/Berlin:20260602T150000 RDATE:20260701T130000Z",
                     "2026-01-01", "2027-01-01"),
                ElementsAre("2026-06-01 09:00", "2026-06-03 09:00", "2026-07-01 09:00"));
    const auto utc_rule = Recurrence::parse("DTSTART:20260601T000000Z FREQ=DAILY", zone("Europe/Berlin"));
    EXPECT_EQ(utc_rule->zone(), Zone::utc());
}

TEST(Recurrence, InstantsInAGapAreMovedAsRfc5545Says) {
    const auto rule =
        Recurrence::parse("DTSTART;TZID=America/Los_Angeles:20260307T023000 FREQ=DAILY;COUNT=3", Zone::utc());
    std::vector<std::string> found;
    for (const Instant t : rule->instants(utc("2026-01-01"), utc("2027-01-01"))) found.push_back(text(t));
    EXPECT_THAT(found, ElementsAre("2026-03-07 10:30", "2026-03-08 10:30", "2026-03-09 09:30"));
}

TEST(Recurrence, CaseAndSpaceDoNotMatter) {
    const auto rule = Recurrence::parse("  rrule:freq=weekly;byday=mo,tu;wkst=su\r\n", Zone::utc());
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->text(), "rrule:freq=weekly;byday=mo,tu;wkst=su");
    EXPECT_EQ(rule->days(day("2026-11-23"), day("2026-11-30")).size(), 2U);
}

TEST(Recurrence, SparseRulesAnswer) {
    // 29 February is a Sunday in 2032, 2060, 2088 and 2128; 2100 is no leap year
    EXPECT_THAT(list("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", "2026-01-01", "2130-01-01"),
                ElementsAre("2032-02-29 00:00", "2060-02-29 00:00", "2088-02-29 00:00", "2128-02-29 00:00"));
    EXPECT_THAT(list("FREQ=YEARLY;INTERVAL=300;BYMONTH=2;BYMONTHDAY=28", "2026-01-01", "9999-01-01"),
                testing::Contains("2201-02-28 00:00"));
}

TEST(Recurrence, FarYearsAreNotLibicals) {
    // libical finds no occurrence after 2582; in 9996, each date has the same weekday as in 1996
    EXPECT_THAT(list("FREQ=MONTHLY;BYDAY=-1FR", "9996-02-01", "9996-04-01"),
                ElementsAre("9996-02-23 00:00", "9996-03-29 00:00"));
    EXPECT_THAT(list("DTSTART:20260131 FREQ=MONTHLY;INTERVAL=5", "9990-01-01", "9992-01-01"),
                ElementsAre("9990-03-31 00:00", "9990-08-31 00:00", "9991-01-31 00:00"));
}

TEST(Recurrence, PeriodsInDays) {
    const auto period = [](const char* rule) {
        return Recurrence::parse(rule, Zone::utc(), Seconds{0}, Recurrence::Finest::minutely)->period_days();
    };
    EXPECT_EQ(period("FREQ=DAILY"), 1);
    EXPECT_EQ(period("FREQ=DAILY;INTERVAL=5"), 5);
    EXPECT_EQ(period("FREQ=DAILY;INTERVAL=5;BYDAY=MO"), 35);
    EXPECT_EQ(period("FREQ=HOURLY;INTERVAL=36"), 3);
    EXPECT_EQ(period("FREQ=MINUTELY;INTERVAL=1000"), 25);
    EXPECT_EQ(period("FREQ=MINUTELY;INTERVAL=1000;BYDAY=MO"), 175);
    EXPECT_EQ(period("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"), 14);
    EXPECT_EQ(period("FREQ=WEEKLY;BYDAY=MO;BYMONTH=1"), 146097);
    EXPECT_EQ(period("FREQ=YEARLY"), 146097);
    EXPECT_EQ(period("FREQ=YEARLY;INTERVAL=3"), 3 * 146097);
    EXPECT_EQ(period("FREQ=MONTHLY;INTERVAL=7"), 7 * 146097);
}

// 30 December 2024 is in week 1 of 2025. So the interval of three years is counted from 2025.
TEST(Recurrence, IntervalWithByWeekNoCountsFromTheYearOfTheWeekOfDtstart) {
    const auto rule =
        Recurrence::parse("DTSTART:20241230 RRULE:FREQ=YEARLY;BYWEEKNO=1;INTERVAL=3", Zone::utc());
    ASSERT_TRUE(rule) << rule.error().message;
    EXPECT_THAT(rule->days(day("2024-01-01"), day("2032-01-01")),
                testing::ElementsAre(day("2024-12-30"), day("2028-01-03"), day("2030-12-30")));
}

}  // namespace
}  // namespace pbs::rrule::test
