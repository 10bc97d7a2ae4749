#include "rrule/icalendar.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

std::string calendar(const std::string& events) {
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n" + events + "END:VCALENDAR\r\n";
}
std::string event(const std::string& lines) {
    return "BEGIN:VEVENT\r\nUID:u1\r\nDTSTAMP:20260101T000000Z\r\n" + lines + "END:VEVENT\r\n";
}

HolidayCalendar read(const std::string& events) {
    const auto result = read_holidays(calendar(events), Zone::utc());
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(HolidayCalendar{});
}

std::vector<std::string> entries(const std::string& lines) {
    std::vector<std::string> texts;
    for (const HolidayEvent& holiday : read(event(lines)).holidays) texts.push_back(holiday.entry);
    return texts;
}
std::string why_skipped(const std::string& lines) {
    const HolidayCalendar read_calendar = read(event(lines));
    EXPECT_TRUE(read_calendar.holidays.empty());
    return read_calendar.skipped.size() == 1 ? read_calendar.skipped[0].why : "not skipped";
}

TEST(Icalendar, ASingleDayIsADate) {
    const HolidayCalendar holidays =
        read(event("SUMMARY:Nationalfeiertag\\, frei\r\nDTSTART;VALUE=DATE:20261026\r\n"
                   "DTEND;VALUE=DATE:20261027\r\n"));
    ASSERT_EQ(holidays.holidays.size(), 1U);
    EXPECT_EQ(holidays.holidays[0].summary, "Nationalfeiertag, frei");
    EXPECT_EQ(holidays.holidays[0].entry, "10/26/2026 SUMMARY:Nationalfeiertag\\, frei");
    EXPECT_TRUE(holidays.skipped.empty());
}

TEST(Icalendar, SeveralDaysAreOneEntryEach) {
    EXPECT_THAT(entries("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227\r\n"),
                testing::ElementsAre("12/24/2026", "12/25/2026", "12/26/2026"));
    EXPECT_THAT(entries("DTSTART;VALUE=DATE:20261231\r\nDURATION:P2D\r\n"),
                testing::ElementsAre("12/31/2026", "01/01/2027"));
}

TEST(Icalendar, RulesAreKept) {
    const auto rule = entries("DTSTART;VALUE=DATE:20200101\r\nRRULE:FREQ=YEARLY\r\n");
    ASSERT_THAT(rule, testing::ElementsAre("DTSTART;VALUE=DATE:20200101 RRULE:FREQ=YEARLY"));
    const auto days = *NonWorkDays::parse(rule, Zone::utc());
    EXPECT_TRUE(days.contains(day("2031-01-01")));
    EXPECT_FALSE(days.contains(day("2019-01-01")));
}

TEST(Icalendar, AnEventOfTwoDaysThatRecursKeepsItsLength) {
    const auto both =
        entries("DTSTART;VALUE=DATE:20261225\r\nDTEND;VALUE=DATE:20261227\r\nRRULE:FREQ=YEARLY\r\n");
    ASSERT_THAT(both, testing::ElementsAre("DTSTART;VALUE=DATE:20261225 RRULE:FREQ=YEARLY DURATION:P2D"));
    const auto days = *NonWorkDays::parse(both, Zone::utc());
    EXPECT_THAT(days.year(std::chrono::year(2030)),
                testing::ElementsAre(day("2030-12-25"), day("2030-12-26")));
}

TEST(Icalendar, AddedAndRemovedDatesCount) {
    const auto list = entries(
        "DTSTART;VALUE=DATE:20260105\r\nRRULE:FREQ=WEEKLY;COUNT=4\r\n"
        "RDATE;VALUE=DATE:20260301,20260302\r\nEXDATE;VALUE=DATE:20260112\r\n");
    ASSERT_EQ(list.size(), 1U);
    const auto days = *NonWorkDays::parse(list, Zone::utc());
    EXPECT_THAT(days.year(std::chrono::year(2026)),
                testing::ElementsAre(day("2026-01-05"), day("2026-01-19"), day("2026-01-26"),
                                     day("2026-03-01"), day("2026-03-02")));
}

TEST(Icalendar, DatesWithoutARuleIncludeTheFirst) {
    const auto list = entries("DTSTART;VALUE=DATE:20260105\r\nRDATE;VALUE=DATE:20260301\r\n");
    ASSERT_EQ(list.size(), 1U);
    const auto days = *NonWorkDays::parse(list, Zone::utc());
    EXPECT_THAT(days.year(std::chrono::year(2026)),
                testing::ElementsAre(day("2026-01-05"), day("2026-03-01")));
}

TEST(Icalendar, WhatIsNoHolidayIsLeftOutWithTheReason) {
    EXPECT_EQ(why_skipped("DTSTART:20261026T080000Z\r\n"), "it has a time of day");
    EXPECT_EQ(why_skipped("SUMMARY:nothing\r\n"), "it has no DTSTART");
    EXPECT_EQ(why_skipped("DTSTART;VALUE=DATE:20261026\r\nSTATUS:CANCELLED\r\n"), "it is cancelled");
    EXPECT_THAT(why_skipped("DTSTART;VALUE=DATE:20261026\r\nRECURRENCE-ID;VALUE=DATE:20261025\r\n"),
                testing::HasSubstr("changes one occurrence"));
    EXPECT_THAT(why_skipped("DTSTART;VALUE=DATE:20261026\r\nDTEND;VALUE=DATE:20291028\r\n"),
                testing::HasSubstr("expected at most 366"));
}

TEST(Icalendar, EventsOfSeveralDaysRecurByAnyRule) {
    // two events: one on the last Monday of October and the day after, which may be in November; and one that
    // crosses the end of a year
    const auto both = entries(
        "DTSTART;VALUE=DATE:20261026\r\nDTEND;VALUE=DATE:20261028\r\n"
        "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1MO\r\nEXDATE;VALUE=DATE:20271025\r\n");
    ASSERT_EQ(both.size(), 1U);
    const auto days = *NonWorkDays::parse(both, Zone::utc());
    EXPECT_THAT(days.year(std::chrono::year(2026)),
                testing::ElementsAre(day("2026-10-26"), day("2026-10-27")));
    EXPECT_TRUE(days.year(std::chrono::year(2027)).empty());
    EXPECT_THAT(days.year(std::chrono::year(2033)),
                testing::ElementsAre(day("2033-10-31"), day("2033-11-01")));
    const auto turn = *NonWorkDays::parse(
        entries("DTSTART;VALUE=DATE:20261230\r\nDURATION:P1W\r\nRRULE:FREQ=YEARLY;UNTIL=20271230\r\n"),
        Zone::utc());
    EXPECT_EQ(turn.year(std::chrono::year(2027)).size(), 7U);
    EXPECT_TRUE(turn.contains(day("2028-01-05")));
    EXPECT_FALSE(turn.contains(day("2028-01-06")));
    EXPECT_EQ(turn.next(day("2028-01-06")), std::nullopt);
}

TEST(Icalendar, EachRuleOfAnEventCounts) {
    const auto list = entries(
        "SUMMARY:two\r\nDTSTART;VALUE=DATE:20260105\r\nRRULE:FREQ=WEEKLY;COUNT=2\r\n"
        "RRULE:FREQ=MONTHLY;COUNT=2\r\nRDATE;VALUE=DATE:20261231\r\n");
    ASSERT_EQ(list.size(), 2U);
    const auto days = *NonWorkDays::parse(list, Zone::utc());
    EXPECT_THAT(
        days.year(std::chrono::year(2026)),
        testing::ElementsAre(day("2026-01-05"), day("2026-01-12"), day("2026-02-05"), day("2026-12-31")));
    EXPECT_EQ(days.names(day("2026-02-05")), "two");
    EXPECT_THAT(why_skipped("DTSTART;VALUE=DATE:20260105\r\nEXRULE:FREQ=WEEKLY\r\n"),
                testing::HasSubstr("EXRULE"));
}

TEST(Icalendar, AByteOrderMarkIsSkippedAndTextsAreOneLine) {
    const auto read = read_holidays(
        "\xEF\xBB\xBF" + calendar(event("SUMMARY:a\\nb\x1b[31m\\; c\r\nDTSTART;VALUE=DATE:20261026\r\n")),
        Zone::utc());
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->holidays.size(), 1U);
    EXPECT_EQ(read->holidays[0].summary, "a b [31m; c");
    EXPECT_EQ(read->holidays[0].entry, "10/26/2026 SUMMARY:a b [31m\\; c");
}

TEST(Icalendar, PropertiesThatTellNoDaysMayBeEmptyOrWrong) {
    const std::string holiday = "SUMMARY:x\r\nDTSTART;VALUE=DATE:20261026\r\n";
    for (const char* line :
         {"DESCRIPTION:\r\nLOCATION:\r\n", "CREATED:yesterday\r\n", "X-FOO:\r\n",
          "X-LIC-ERROR;X-LIC-ERRORTYPE=VALUE-PARSE-ERROR:No value for LOCATION property. Removing entire "
          "property:\r\n"})
        EXPECT_THAT(entries(holiday + line), testing::ElementsAre("10/26/2026 SUMMARY:x")) << line;
    EXPECT_THAT(entries("SUMMARY:\r\nDTSTART;VALUE=DATE:20261026\r\n"), testing::ElementsAre("10/26/2026"));
    for (const char* line : {"EXDATE:\r\n", "RRULE:\r\n", "RDATE;VALUE=DATE:soon\r\n", "DTEND:\r\n"})
        EXPECT_FALSE(read_holidays(calendar(event(holiday + line)), Zone::utc())) << line;
}

std::string why_refused(const std::string& text) {
    const auto read_calendar = read_holidays(text, Zone::utc());
    return read_calendar ? "not refused" : read_calendar.error().message;
}

TEST(Icalendar, ADateThatDoesNotExistIsRefusedWithItsLine) {
    const std::string start = "DTSTART;VALUE=DATE:20270201\r\n";
    const std::pair<std::string, std::string> cases[] = {
        {"DTSTART;VALUE=DATE:20270230\r\n", "'20270230' in the DTSTART"},
        {"DTSTART;VALUE=DATE:20270229\r\n", "'20270229' in the DTSTART"},
        {"DTSTART;VALUE=DATE:21000229\r\n", "'21000229' in the DTSTART"},
        {"DTSTART;VALUE=DATE:20271301\r\n", "'20271301' in the DTSTART"},
        {"DTSTART;VALUE=DATE:20270001\r\n", "'20270001' in the DTSTART"},
        {"DTSTART;VALUE=DATE:20270100\r\n", "'20270100' in the DTSTART"},
        {"DTSTART:20270201T256161\r\n", "'20270201T256161' in the DTSTART"},
        {"DTSTART:20270201T240000Z\r\n", "'20270201T240000Z' in the DTSTART"},
        {"DTSTART;TZID=Europe/Vienna:20270230T090000\r\n", "'20270230T090000' in the DTSTART"},
        {"DTSTART;X-A=\"a:b;c\";VALUE=DATE:20270431\r\n", "'20270431' in the DTSTART"},
        {"dtstart;value=date:20270431\r\n", "'20270431' in the dtstart"},
        {"DTSTART;VALUE=DA\r\n TE:2027\r\n\t0631\r\n", "'20270631' in the DTSTART"},
        {start + "DTEND;VALUE=DATE:20270230\r\n", "'20270230' in the DTEND"},
        {start + "RDATE;VALUE=DATE:20270302,20270332\r\n", "'20270332' in the RDATE"},
        {start + "RDATE;VALUE=PERIOD:20270302T000000Z/20270302T250000Z\r\n",
         "'20270302T000000Z/20270302T250000Z' in the RDATE"},
        {start + "RRULE:FREQ=DAILY\r\nEXDATE;VALUE=DATE:20270230\r\n", "'20270230' in the EXDATE"},
        {start + "RRULE:FREQ=DAILY;UNTIL=20270230\r\n", "'UNTIL=20270230' in the RRULE"},
        {start + "RRULE:FREQ=DAILY;UNTIL=20270228T256161Z;INTERVAL=2\r\n",
         "'UNTIL=20270228T256161Z' in the RRULE"},
        {start + "RECURRENCE-ID;VALUE=DATE:20270230\r\n", "'20270230' in the RECURRENCE-ID"},
    };
    for (const auto& [lines, message] : cases)
        EXPECT_THAT(why_refused(calendar(event(lines))),
                    testing::AllOf(testing::HasSubstr(message),
                                   testing::HasSubstr(" of a VEVENT is not valid; expected a date")))
            << lines;
    EXPECT_EQ(
        why_refused(calendar(event("SUMMARY:a\r\n b\r\n" + start + "DTEND;VALUE=DATE:20270230\r\n"))),
        "line 10: '20270230' in the DTEND of a VEVENT is not valid; expected a date YYYYMMDD or a date and "
        "time YYYYMMDDTHHMMSS[Z] of the calendar");
    EXPECT_EQ(
        why_refused(calendar("BEGIN:VTODO\r\nUID:u\r\nDUE;VALUE=DATE:20270230\r\nEND:VTODO\r\n")),
        "line 6: '20270230' in the DUE of a VTODO is not valid; expected a date YYYYMMDD or a date and time "
        "YYYYMMDDTHHMMSS[Z] of the calendar");
}

TEST(Icalendar, RareDatesThatExistAreRead) {
    EXPECT_THAT(entries("DTSTART;VALUE=DATE:20280229\r\n"), testing::ElementsAre("02/29/2028"));
    EXPECT_THAT(entries("DTSTART;VALUE=DATE:20000229\r\n"), testing::ElementsAre("02/29/2000"));
    EXPECT_EQ(why_skipped("DTSTART:20161231T235960Z\r\n"), "it has a time of day");
    EXPECT_THAT(why_skipped("DTSTART;VALUE=DATE:15000101\r\n"), testing::HasSubstr("1601 to 9999"));
    // the time zones that Outlook writes begin in the year 1601, and those of other programs earlier
    const std::string zone =
        "BEGIN:VTIMEZONE\r\nTZID:x\r\nBEGIN:STANDARD\r\nDTSTART:00010101T000000\r\nTZOFFSETFROM:+0100\r\n"
        "TZOFFSETTO:+0100\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";
    EXPECT_EQ(read(zone + event("DTSTART;VALUE=DATE:20270201\r\n")).holidays.size(), 1U);
    EXPECT_EQ(why_refused(calendar(zone + event("DTSTART;VALUE=DATE:20270230\r\n"))).substr(0, 8),
              "line 15:");
    EXPECT_THAT(entries("DTSTART;VALUE=DATE:20270201\r\nDTEND;VALUE=DATE:20270201\r\n"),
                testing::ElementsAre("02/01/2027"));
    EXPECT_THAT(entries("DESCRIPTION:x\r\n DTSTART:20270230\r\nDTSTART;VALUE=DATE:20270201\r\n"),
                testing::ElementsAre("02/01/2027"));
}

TEST(Icalendar, LengthsAreWholeDays) {
    const std::string start = "DTSTART;VALUE=DATE:20270227\r\n";
    const auto count = [&](const std::string& line) { return entries(start + line).size(); };
    EXPECT_EQ(count("DURATION:P1D\r\n"), 1U);
    EXPECT_EQ(count("DURATION:P2W\r\n"), 14U);
    EXPECT_EQ(count("DURATION:P1DT0H0M0S\r\n"), 1U);
    EXPECT_EQ(count("DURATION:PT48H\r\n"), 2U);
    EXPECT_EQ(count("DTEND:20270301T000000\r\n"), 2U);
    for (const char* part : {"DURATION:PT36H\r\n", "DURATION:-P1D\r\n", "DURATION:PT1S\r\n"})
        EXPECT_EQ(why_skipped(start + part), "its DURATION is not a number of whole days") << part;
    EXPECT_EQ(why_skipped(start + "DTEND;VALUE=DATE:20270226\r\n"), "its DTEND is before its DTSTART");
    EXPECT_EQ(why_skipped(start + "DTEND:20270301T120000\r\n"),
              "its DTEND has a time of day although its DTSTART has none");
    EXPECT_THAT(why_skipped(start + "DURATION:P999999W\r\n"), testing::HasSubstr("it lasts 6999993 days"));
    for (const char* part : {"DURATION:P99999999999D\r\n", "DURATION:P1M\r\n", "DURATION:P\r\n",
                             "DURATION:P1H\r\n", "DURATION:PT1D\r\n", "DURATION:1D\r\n"})
        EXPECT_THAT(why_refused(calendar(event(start + part))), testing::HasSubstr("DURATION")) << part;
}

TEST(Icalendar, NoTextOfAFileReachesTheTerminalAsItIs) {
    const std::string odd =
        "SUMMARY:\xC2\x9B"
        "31m\xE4\xFF \xE2\x80\xAEx\r\n";
    const auto read_calendar = read(event(odd + "DTSTART;VALUE=DATE:20261026\r\n"));
    ASSERT_EQ(read_calendar.holidays.size(), 1U);
    EXPECT_EQ(read_calendar.holidays[0].summary, " 31m\xC3\xA4\xC3\xBF  x");
    for (const std::string& bad :
         {calendar(event("DTSTART;VALUE=DATE:\x1b[2J\r\n")), std::string("END:\x1b[2J\r\n")}) {
        const auto refused = read_holidays(bad, Zone::utc());
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().message.find('\x1b'), std::string::npos) << refused.error().message;
    }
}

TEST(Icalendar, NothingIsWrittenToStandardError) {
    testing::internal::CaptureStderr();
    for (const char* lines :
         {"DTSTART;VALUE=DATE:20261026\r\nRRULE:FREQ=YEARLY;BYDAY=\r\n", "DTSTART;TZID=:x\r\n",
          "DTSTART;VALUE=DATE:20261026\r\nRRULE:FREQ=YEARLY;BYMONTH=99;X=1\r\n", "DURATION:PX\r\n",
          "BEGIN:VALARM\r\nTRIGGER:soon\r\nEND:VALARM\r\n", "GEO:1\r\nREQUEST-STATUS:x\r\n"})
        (void)read_holidays(calendar(event(lines)), Zone::utc());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Icalendar, WhatIsNoCalendarIsRefused) {
    for (const std::string text : {"", "holidays", "YEAR 2026\n", "BEGIN:VEVENT\r\nEND:VEVENT\r\n"}) {
        const auto refused = read_holidays(text, Zone::utc());
        ASSERT_FALSE(refused) << text;
        EXPECT_THAT(refused.error().message, testing::HasSubstr("BEGIN:VCALENDAR")) << text;
    }
    EXPECT_FALSE(read_holidays(std::string_view("BEGIN:VCALENDAR\0", 16), Zone::utc()));
    for (const char* line :
         {"DTSTART;VALUE=DATE:tomorrow\r\n", "DTSTART;VALUE=DATE:20261026\r\nRRULE:FREQ=OFTEN\r\n",
          "DTSTART;VALUE=DATE:20261026\r\nnonsense\r\n"}) {
        const auto bad = read_holidays(calendar(event(std::string("SUMMARY:x\r\n") + line)), Zone::utc());
        ASSERT_FALSE(bad) << line;
        EXPECT_THAT(bad.error().message, testing::HasSubstr("VEVENT 'x'")) << line;
    }
}

TEST(Icalendar, AnEndThatEndsNothingIsRefusedWithItsLine) {
    const std::pair<const char*, const char*> cases[] = {
        {"END:VCALENDAR\r\n", "line 1: 'END:VCALENDAR' is out of place; expected BEGIN:VCALENDAR before it"},
        {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n",
         "line 3: 'END:VCALENDAR' is out of place; expected END:VEVENT"},
        {"begin:vcalendar\nend:vcalendar\nend:vcalendar\n",
         "line 3: 'END:vcalendar' is out of place; expected BEGIN:VCALENDAR before it"},
    };
    for (const auto& [text, message] : cases) {
        testing::internal::CaptureStderr();
        const auto refused = read_holidays(text, Zone::utc());
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << text;
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().message, message);
    }
    EXPECT_TRUE(read_holidays("begin:vcalendar \nEND:VCALENDAR\t\r\n", Zone::utc()));
}

TEST(Icalendar, WhatIsWrittenIsRead) {
    const TimedEvent timed[] = {{"office-1@svr",
                                 "office; open, really",
                                 "prime",
                                 {utc("2026-11-23 07:00"), utc("2026-11-23 16:00")}}};
    const DayEvent days[] = {{"d1@svr", "non-work day", "non_work_days", day("2026-12-25")},
                             {"d2@svr", "non-work day", "non_work_days", day("2026-12-31")}};
    const std::string text = write_calendar("svr", timed, days, utc("2026-11-21 12:00"));
    EXPECT_THAT(text, testing::HasSubstr("DTSTART:20261123T070000Z\r\n"));
    EXPECT_THAT(text, testing::HasSubstr("DTEND:20261123T160000Z\r\n"));
    EXPECT_THAT(text, testing::HasSubstr("SUMMARY:office\\; open\\, really\r\n"));
    EXPECT_THAT(text, testing::HasSubstr("X-WR-CALNAME:svr\r\n"));
    const auto read_again = read_holidays(text, Zone::utc());
    ASSERT_TRUE(read_again) << read_again.error().message;
    ASSERT_EQ(read_again->holidays.size(), 2U);
    EXPECT_EQ(read_again->holidays[0].entry, "12/25/2026 SUMMARY:non-work day");
    EXPECT_EQ(read_again->holidays[1].entry, "12/31/2026 SUMMARY:non-work day");
    EXPECT_EQ(read_again->skipped.size(), 1U);
}

}  // namespace
}  // namespace pbs::rrule::test
