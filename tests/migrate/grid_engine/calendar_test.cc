// Tests the conversion of Grid Engine's calendars: the files in scal/.
#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

GridFiles calendar(const std::string& year, const std::string& week) {
    return {{"scal/c", "calendar_name c\nyear " + year + "\nweek " + week + "\n"}};
}

// Returns the windows that a calendar is converted to, a line for each: "RRULE START-END".
std::string windows(const std::string& year, const std::string& week) {
    const auto done = grid_conversion(calendar(year, week));
    EXPECT_TRUE(done) << testing::PrintToString(texts(done.error()));
    std::string out;
    if (!done) return out;
    for (const Report::Line& line : done->report.lines) {
        if (line.target.ends_with(" rrule")) out += line.value;
        if (line.target.ends_with(" start_time")) out += " " + line.value.substr(0, 5);
        if (line.target.ends_with(" end_time")) out += "-" + line.value.substr(0, 5) + "\n";
    }
    return out;
}

TEST(GridCalendar, WindowsOpenWhereAQueueIsOn) {
    EXPECT_EQ(windows("NONE", "mon-fri=6-20"),
              "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR 00:00-06:00\n"
              "FREQ=WEEKLY;BYDAY=SA,SU 00:00-24:00\n"
              "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR 20:00-24:00\n");
    EXPECT_EQ(windows("NONE", "mon-fri=20-6 sat-sun"), "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR 06:00-20:00\n");
    EXPECT_EQ(windows("NONE", "12-18 tue=13-17=on"),
              "FREQ=DAILY 00:00-12:00\n"
              "FREQ=WEEKLY;BYDAY=TU 13:00-17:00\n"
              "FREQ=DAILY 18:00-24:00\n");
    EXPECT_EQ(windows("NONE", "fri-mon=off tue-thu=6:30-12,13:00:00-18=off"),
              "FREQ=WEEKLY;BYDAY=TU,WE,TH 00:00-06:30\n"
              "FREQ=WEEKLY;BYDAY=TU,WE,TH 12:00-13:00\n"
              "FREQ=WEEKLY;BYDAY=TU,WE,TH 18:00-24:00\n");
}

TEST(GridCalendar, DaysOfTheYearComeBeforeTheWeek) {
    EXPECT_EQ(windows("24.12.2026,31.12.2026-1.jan.2027=on", "mon-fri=6-20"),
              "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR EXDATE;VALUE=DATE:20261224,20261231,20270101 00:00-06:00\n"
              "FREQ=WEEKLY;BYDAY=SA,SU RDATE;VALUE=DATE:20261224,20261231,20270101 00:00-24:00\n"
              "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR EXDATE;VALUE=DATE:20261224,20261231,20270101 20:00-24:00\n");
    EXPECT_EQ(windows("25.12.2026", "NONE"), "FREQ=DAILY EXDATE;VALUE=DATE:20261225 00:00-24:00\n");
    EXPECT_EQ(windows("12.3.2026=12-11=off", "off"), "RDATE;VALUE=DATE:20260312 11:00-12:00\n");
    EXPECT_EQ(windows("8-9=on 7-10 1.5.2026=7-9", "off"),
              "FREQ=DAILY 00:00-07:00\n"
              "FREQ=DAILY 08:00-09:00\n"
              "FREQ=DAILY 10:00-24:00\n");
}

TEST(GridCalendar, OverlappingTimesCountOnce) {
    EXPECT_EQ(windows("NONE", "6-12,8-10,9-20 11-12=on sat=0-24"),
              "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SU 00:00-06:00\n"
              "FREQ=DAILY 11:00-12:00\n"
              "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SU 20:00-24:00\n");
}

std::string repeated(const std::string& text, int times, const std::string& between) {
    std::string out = text;
    for (int i = 1; i < times; ++i) out += between + text;
    return out;
}

TEST(GridCalendar, ALineHasTenYearsOfDaysAtMost) {
    const std::string range = "1.1.2026-31.12.2034";  // a range of 3287 days
    EXPECT_THAT(grid_problems(calendar(range + ",1.1.2035-8.1.2036", "off")), IsEmpty());
    EXPECT_THAT(
        grid_problems(calendar(range + ",1.1.2035-9.1.2036", "off")),
        ElementsAre(
            "ge/scal/c:2:26: year: found '1.1.2035-9.1.2036', expected at most 3660 days in the line"));
    EXPECT_THAT(
        grid_problems(calendar(range + " " + range + "=on", "off")),
        ElementsAre(HasSubstr("ge/scal/c:2:26: year: found '1.1.2026-31.12.2034=on', expected at most")));
}

TEST(GridCalendar, AnEntryHasAHundredTimesAtMost) {
    EXPECT_THAT(grid_problems(calendar("NONE", repeated("6-7", 100, ","))), IsEmpty());
    EXPECT_THAT(grid_problems(calendar("NONE", repeated("6-7", 101, ","))),
                ElementsAre("ge/scal/c:3:406: week: found '6-7', expected at most 100 pairs of times"));
    EXPECT_THAT(grid_problems(calendar(repeated("7-8", 101, " "), "NONE")),
                ElementsAre("ge/scal/c:2:406: year: found '7-8', expected at most 100 pairs of times"))
        << "each date has all of these";
    EXPECT_THAT(grid_problems(calendar(repeated("1.5.2026=7-8", 200, " "), "NONE")), IsEmpty());
}

TEST(GridCalendar, AlwaysOnHasNoWindowAndNeverOnOneInThePast) {
    for (const std::string& week : std::vector<std::string>{"NONE", "on", "mon=6-8=on"}) {
        EXPECT_EQ(grid_commands(calendar("NONE", week)), "") << week;
        EXPECT_THAT(grid_notes(calendar("NONE", week)),
                    ElementsAre("ge/scal/c:1: c: is always on: queues need no time_window for it",
                                "ge/scal/c:2-3: year, week: switches nothing off"));
    }
    EXPECT_EQ(windows("NONE", "off"), "RDATE;VALUE=DATE:19700101 00:00-24:00\n");
    EXPECT_THAT(grid_notes(calendar("NONE", "off")),
                ElementsAre("ge/scal/c:1: c: is never on: its time_window has one day, in the past"));
}

TEST(GridCalendar, SuspendedTimesSuspendJobs) {
    EXPECT_EQ(windows("NONE", "sat-sun=suspended"), "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR 00:00-24:00\n");
    // Times of state on are exceptions from the suspended ones, and close nothing.
    for (const auto& [year, week] :
         std::vector<std::pair<std::string, std::string>>{{"NONE", "sat-sun=suspended"},
                                                          {"NONE", "suspended mon=6-8=on"},
                                                          {"24.12.2026=on", "sat=suspended"}}) {
        EXPECT_THAT(
            grid_commands(calendar(year, week)),
            AllOf(HasSubstr("set time_window c at_close = suspend\n"), Not(HasSubstr("at_close = run"))));
        EXPECT_THAT(grid_notes(calendar(year, week)), IsEmpty());
    }
    EXPECT_THAT(grid_commands(calendar("NONE", "sat-sun")), HasSubstr("set time_window c at_close = run\n"))
        << "the window may be there, with another one";
}

TEST(GridCalendar, SuspendedTimesBesideOthersCountAsOff) {
    for (const std::string& week :
         std::vector<std::string>{"sat=suspended sun=off", "sat=suspended mon=6-8=on sun"}) {
        EXPECT_THAT(grid_commands(calendar("NONE", week)), Not(HasSubstr("suspend"))) << week;
        EXPECT_THAT(
            grid_notes(calendar("NONE", week)),
            Contains(
                "ge/scal/c:1: c: suspended times count as off: no job starts, but running jobs go "
                "on, because the calendar has times of state off, too, and a time_window has one at_close"))
            << week;
    }
}

TEST(GridCalendar, NamesThatNoObjectHasAreReplaced) {
    const std::string longest(64, 'n');
    const GridFiles files{{"scal/24x7", "calendar_name 24x7\nyear NONE\nweek sat=6-20\n"},
                          {"scal/calendar_24x7", "calendar_name calendar_24x7\nyear NONE\nweek off\n"},
                          {"scal/" + longest, "calendar_name " + longest + "\nyear NONE\nweek sun=6-20\n"},
                          {"sq/all.q", "qname all.q\ncalendar 24x7\n"}};
    const std::string cut(62, 'n');
    EXPECT_THAT(grid_commands(files),
                AllOf(HasSubstr("create time_window calendar_24x7_2\n"),
                      HasSubstr("create time_window calendar_24x7\n"),
                      HasSubstr("create time_window " + longest + "\n"),
                      HasSubstr("create time_window " + cut + "_2\n"),
                      HasSubstr("set queue all.q time_window = "
                                "\"calendar_24x7_2,calendar_24x7_3,calendar_24x7_4\"\n")));
    EXPECT_THAT(
        grid_notes(files),
        Contains("ge/scal/24x7:1: 24x7: is called calendar_24x7 here: names have a letter first, then "
                 "letters, digits, -, _ and ., at most 64 characters"));
}

TEST(GridCalendar, MistakesAreToldWithTheirPlaces) {
    const auto told = [](const std::string& year, const std::string& week) {
        return grid_problems(calendar(year, week));
    };
    EXPECT_THAT(told("31.2.2026", "NONE"),
                ElementsAre("ge/scal/c:2:6: year: found '31.2.2026', expected a date, such as 24.12.2026"));
    EXPECT_THAT(
        told("1.1.2026-1.1.2025=on", "NONE"),
        ElementsAre("ge/scal/c:2:14: year: found '-1.1.2025=on', expected a range of at most ten years that "
                    "doesn't end before it begins"));
    EXPECT_THAT(
        told("NONE", "mon-frx=6-20"),
        ElementsAre("ge/scal/c:3:10: week: found 'frx=6-20', expected a day of the week, such as fri"));
    EXPECT_THAT(
        told("NONE", "mon=6-25"),
        ElementsAre(
            "ge/scal/c:3:12: week: found '25', expected a time of day up to 24, such as 20 or 20:00:00"));
    EXPECT_THAT(
        told("NONE", "mon=6"),
        ElementsAre(
            "ge/scal/c:3:11: week: found the end, expected times of day, such as 6-20 or 6:30-20:00"));
    EXPECT_THAT(
        told("NONE", "mon=6-20=closed"),
        ElementsAre(
            "ge/scal/c:3:15: week: found 'closed', expected days of the week, times of day, or on, off "
            "or suspended"));
    EXPECT_THAT(told("NONE", "mon=on=off"),
                ElementsAre("ge/scal/c:3:12: week: found '=off', expected a blank before the next entry"));
    EXPECT_THAT(grid_problems({{"scal/c", "calendar_name d\n"}}),
                ElementsAre("ge/scal/c:1:15: calendar_name: isn't the file's name, expected that"));
    EXPECT_THAT(grid_problems({{"scal/c", "calendar_name c\nweek off\nweek on\n"}}),
                ElementsAre("ge/scal/c:3:1: week: is there twice, expected it once"));
    EXPECT_THAT(grid_problems({{"sq/a", "slots 3\n"}}),
                ElementsAre("ge/sq/a:1:1: has no line qname, expected one"));
    EXPECT_THAT(grid_problems({{"sq/a", "qname a\ncalendar NONE\ncalendar NONE\n"}}),
                ElementsAre("ge/sq/a:3:1: calendar: is there twice, expected it once"));
    EXPECT_THAT(grid_problems({{"scal/c", "week off\n"}}),
                ElementsAre("ge/scal/c:1:1: has no line calendar_name, expected one"));
    EXPECT_THAT(grid_problems({{"scal/c", "calendar_name c\nday off\n"}}),
                ElementsAre("ge/scal/c:2:1: found 'day', expected calendar_name, year or week"));
}

}  // namespace
}  // namespace pbs::migrate::test
