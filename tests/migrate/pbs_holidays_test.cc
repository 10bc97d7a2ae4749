#include "migrate/pbs_holidays.h"

#include <fmt/format.h>

#include "migrate/convert.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PbsHolidays parsed(const std::string& text) {
    auto file = parse_pbs_holidays(text, "holidays");
    EXPECT_THAT(texts(file.mistakes), IsEmpty());
    return file;
}

// Returns the windows that these lines give after a line with a YEAR, each as "rule start-end".
std::vector<std::string> windows(const std::string& text) {
    std::vector<std::string> out;
    for (const PrimeWindow& w : prime_windows(parsed("YEAR 2026\n" + text)))
        out.push_back(fmt::format("{} {:02}:{:02}-{:02}:{:02}", w.rrule, w.hours.start / 60,
                                  w.hours.start % 60, w.hours.end / 60, w.hours.end % 60));
    return out;
}

TEST(PbsHolidays, TheFileThatPbsShipsIsRead) {
    const PbsHolidays file = parsed(
        "HOLIDAYFILE_VERSION1\n#\n*\nYEAR  2026\n  weekday 0600 1730\n  saturday  none  all\n"
        "  sunday  none  all\n#\n    1           Jan 1           New Year's Day\r\n  359 Dec 25 Christmas");
    EXPECT_EQ(file.year, 2026);
    EXPECT_THAT(file.prime[1], ElementsAre(PrimeHours{360, 1050}));
    EXPECT_THAT(file.prime[0], IsEmpty());
    ASSERT_EQ(file.days.size(), 2U);
    EXPECT_EQ(file.days[0].description, "Jan 1 New Year's Day");
    EXPECT_EQ(file.days[1].rule(), "FREQ=YEARLY;BYYEARDAY=359");
}

TEST(PbsHolidays, HoursBecomeWindows) {
    EXPECT_THAT(windows("weekday 0600 1730\nsaturday none all\nsunday none all\n"),
                ElementsAre("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR 06:00-17:30"));
    EXPECT_THAT(windows("weekday 0800 1700\nfriday 0800 1500\nsaturday none all\nsunday none all\n"),
                ElementsAre("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH 08:00-17:00", "FREQ=WEEKLY;BYDAY=FR 08:00-15:00"));
    EXPECT_THAT(windows("weekday 2200 0600\nsaturday none all\nsunday none all\n"),
                ElementsAre("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR 00:00-06:00",
                            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR 22:00-24:00"))
        << "each day for itself, as the old scheduler looked at it";
    EXPECT_THAT(windows(""), ElementsAre("FREQ=DAILY 00:00-24:00")) << "days without a line";
    EXPECT_THAT(windows("weekday 0600 0600\nsaturday none all\nsunday none all\n"), IsEmpty());
    EXPECT_THAT(
        windows("weekday 0600 2400\nsaturday 2400 0000\nsunday ALL none\n"),
        ElementsAre("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR 06:00-24:00", "FREQ=WEEKLY;BYDAY=SU 00:00-24:00"));
}

TEST(PbsHolidays, WithoutAYearItMeansNothing) {
    EXPECT_THAT(prime_windows(parsed("weekday 0600 1730\n1 Jan 1\n")), IsEmpty());
    EXPECT_FALSE(parsed("YEAR 0\n").in_use());
    const auto conversion = convert(
        {.sched_config = SchedConfig{}, .pbs_holidays = parsed("weekday 0600 1730\n1 Jan 1\n")}, {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(to_qmgr(*conversion), Not(HasSubstr("time_window")));
    EXPECT_THAT(to_qmgr(*conversion), Not(HasSubstr("non_work_days")));
    EXPECT_THAT(to_text(conversion->report), HasSubstr("without YEAR the file has no effect"));
}

SchedConfig by_time() {
    return parse_sched_config("by_queue: True prime\nby_queue: False non_prime\n", "sched_config");
}

// OpenPBS's parser gives the expected results (check_prime() and load_day() in prime.cpp).
TEST(PbsHolidays, OddLinesMeanWhatPbsMadeOfThem) {
    struct Case {
        const char* lines;
        std::size_t day;
        std::vector<PrimeHours> hours;
        const char* told;  // part of the expected mistake or note
    };
    const std::vector<PrimeHours> whole{PrimeHours{}};
    const std::vector<PrimeHours> never;
    const Case cases[] = {
        {"saturday 0000 0000\n", 6, whole, "holidays:2: saturday: PBS ignored a line with these times"},
        {"weekday 0 0\n", 3, whole, "holidays:2: monday: PBS ignored a line with these times"},
        {"saturday none 0100\n", 6, whole, "holidays:2: saturday: PBS ignored a line with these times"},
        {"saturday none all\nsaturday 0000 0000\n", 6, never,
         "holidays:3: saturday: these times don't replace none or all of line 2, as with PBS: there is no "
         "prime time"},
        {"weekday none all\nmonday 0600 1730\n", 1, never,
         "holidays:3: monday: these times don't replace none or all of line 2, as with PBS: there is no "
         "prime time"},
        {"weekday all none\nmonday 0600 1730\n", 1, whole,
         "holidays:3: monday: these times don't replace none or all of line 2, as with PBS: it is prime time "
         "all day"},
        {"friday none all\nweekday 0600 1730\n", 5, never, "holidays:3: friday: these times don't replace"},
        {"friday none all\nweekday 0600 1730\n",
         4,
         {{360, 1050}},
         "holidays:3: friday: these times don't replace"},
        {"monday none all\nmonday all none\n", 1, whole, ""},
        {"monday 0600 1730\nmonday none all\n", 1, never, ""},
        {"weekday 0600\n",
         1,
         {{360, 1440}},
         "holidays:2:9: weekday: expected the start of prime and of non-prime time, each HHMM, all or none; "
         "prime time is 06:00 to 24:00, as with PBS"},
        {"monday 0600 1730\nmonday 0700\n", 1, {{420, 1050}}, "prime time is 07:00 to 17:30, as with PBS"},
        {"monday 0600 5pm\n",
         1,
         {{360, 1440}},
         "'5pm' is not a time HHMM up to 2400, all or none; prime time is 06:00 to 24:00, as with PBS"},
        {"monday 0675 1799\n",
         1,
         {{420, 1080}},
         "'0675' is not a time HHMM up to 2400, all or none; prime time is 07:00 to 18:00, as with PBS"},
        {"monday 0675 1799\n",
         1,
         {{420, 1080}},
         "'1799' is not a time HHMM up to 2400, all or none; prime time is 07:00 to 18:00, as with PBS"},
        {"monday 0675 0700\n", 1, never, "there is no prime time, as with PBS"},
        {"monday 2500 0660\n", 1, {{0, 420}}, "prime time is 00:00 to 07:00, as with PBS"},
        {"monday -5 +600\n", 1, {{0, 360}}, "'+600' is not a time"},
        {"monday\n", 1, whole, "the line is left out"},
        {"monday 6am 1730\n", 1, whole, "the line is left out"},
        {"monday 0600 2400\n", 1, {{360, 1440}}, ""},
    };
    for (const Case& one : cases) {
        const auto file = parse_pbs_holidays(std::string("YEAR 2026\n") + one.lines, "holidays");
        EXPECT_EQ(file.prime.at(one.day), one.hours) << one.lines;
        std::string told;
        for (const Problem& mistake : file.mistakes) told += note_of(mistake) + "\n";
        for (const std::string& note : file.notes) told += note + "\n";
        if (*one.told == '\0') {
            EXPECT_EQ(told, "") << one.lines;
        } else {
            EXPECT_THAT(told, HasSubstr(one.told)) << one.lines;
        }
    }
    const auto conversion = convert(
        {.sched_config = by_time(), .pbs_holidays = parsed("YEAR 2026\nsaturday 0000 0000\n")}, {}, nullptr);
    EXPECT_THAT(to_text(conversion->report), HasSubstr("PBS ignored a line with these times"));
}

TEST(PbsHolidays, LinesThatEndWithCarriageReturnsAreTold) {
    const auto file = parse_pbs_holidays(
        "YEAR 2026\r\nweekday 0600 1730\r\nsaturday none all\r\n\r\n1 Jan 1\r\n", "holidays");
    EXPECT_FALSE(file.in_use());
    EXPECT_THAT(
        file.notes,
        ElementsAre(
            "holidays:1: the line ends with a carriage return, expected LF alone: PBS read it as a part of "
            "the last word, which then has no effect; convert the file if the line is to have one"));
    // A carriage return gives no note if it belongs to a remark after the words that have a meaning.
    EXPECT_THAT(parse_pbs_holidays("YEAR 2026 x\r\n1 Jan 1\r\n\r\nweekday 0600 1730 x\r\n", "f").notes,
                IsEmpty());
    EXPECT_TRUE(parse_pbs_holidays("YEAR 2026 x\r\n", "f").in_use());
    const auto late = parse_pbs_holidays("YEAR 2026\nmonday 0600 1730\r\n", "f");
    EXPECT_THAT(late.notes, ElementsAre(HasSubstr("f:2: the line ends with a carriage return")));
    EXPECT_EQ(note_of(late.mistakes.at(0)),
              "f:2:13: monday: '1730?' is not a time HHMM up to 2400, all or none; prime time is 06:00 to "
              "24:00, as with PBS");
}

TEST(PbsHolidays, MistakesHaveTheirPlaces) {
    const auto file = parse_pbs_holidays(
        "YEAR soon\nYEAR\nweekday 0600\nmonday 2500 0660\nSunday all all\n367 x\n  -1 x\n0 x\n"
        "saturday 600am none\nfriday 0800 17:00\nYEAR -1\nYEAR 2026\r\nsunday\n",
        "holidays");
    EXPECT_THAT(file.days, IsEmpty());
    EXPECT_THAT(
        texts(file.mistakes),
        ElementsAre(
            "holidays:1:6: YEAR: 'soon' is not a year such as 2026",
            "holidays:2:1: YEAR: the year is missing, expected one such as 2026",
            "holidays:3:9: weekday: expected the start of prime and of non-prime time, each HHMM, all or "
            "none",
            "holidays:4:8: monday: '2500' is not a time HHMM up to 2400, all or none",
            "holidays:4:13: monday: '0660' is not a time HHMM up to 2400, all or none",
            HasSubstr("holidays:5:1: 'Sunday' is not a day of the year from 1 to 366, YEAR, weekday or a "
                      "day of the week in lower case"),
            HasSubstr("holidays:6:1: '367' is not"), HasSubstr("holidays:7:3: '-1' is not"),
            HasSubstr("holidays:8:1: '0' is not"),
            "holidays:9:10: saturday: '600am' is not a time HHMM up to 2400, all or none",
            "holidays:10:13: friday: '17:00' is not a time HHMM up to 2400, all or none",
            "holidays:11:6: YEAR: '-1' is not a year such as 2026",
            "holidays:12:6: YEAR: '2026?' is not a year such as 2026",
            "holidays:13:1: sunday: expected the start of prime and of non-prime time, each HHMM, all or "
            "none"));
    std::vector<std::string> done;
    for (const Problem& mistake : file.mistakes) done.push_back(mistake.then);
    const std::string left_out = "the line is left out";
    const std::string monday = "prime time is 00:00 to 07:00, as with PBS";
    EXPECT_THAT(done, ElementsAre(left_out, left_out, monday, monday, monday, left_out, left_out, left_out,
                                  left_out, left_out, "prime time is 08:00 to 24:00, as with PBS",
                                  "the file is used all the same", left_out, left_out));
}

// If a word begins with a number, as in "12x", PBS reads the number.
TEST(PbsHolidays, LinesWithMistakes) {
    const PbsHolidays file =
        parse_pbs_holidays("YEAR 2026\nJan 1 New Year\n367 x\n12x y\n01/02 z\n359 Dec 25\n", "f");
    std::vector<int> days;
    for (const PbsHoliday& day : file.days) days.push_back(day.day_of_year);
    EXPECT_THAT(days, ElementsAre(12, 1, 359));
    std::vector<std::string> done;
    for (const Problem& mistake : file.mistakes) done.push_back(mistake.then);
    EXPECT_THAT(done, ElementsAre("the line is left out", "the line is left out", "it is read as day 12",
                                  "it is read as day 1"));
}

TEST(PbsHolidays, ANumberThatIsAnotherDayThanTheDateIsPointedOut) {
    const auto report = [](const std::string& text) {
        const auto conversion = convert({.pbs_holidays = parsed("YEAR 2026\n" + text)}, {}, nullptr);
        return to_text(conversion->report);
    };
    EXPECT_THAT(report("359 Dec 24 Christmas Eve\n"),
                HasSubstr("note: holidays:2: Dec 24 Christmas Eve: day 359 of 2026 is December 25: the day "
                          "number is used\n"));
    EXPECT_THAT(report("60 March 2, closed\n"), HasSubstr("day 60 of 2026 is March 1"));
    EXPECT_THAT(report("359 Dec 25 Christmas\n60 Mar. 1\n1 New Year\n2 day 7\n3 May\n366 x\n"),
                Not(HasSubstr("the day number is used")));
}

TEST(PbsHolidays, BecomeWindowsAndNonWorkDays) {
    const auto conversion =
        convert({.sched_config = by_time(),
                 .pbs_holidays =
                     parsed("YEAR 2026\nweekday 0600 1730\nsaturday none all\nsunday none all\n1 Jan 1\n")},
                {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(to_qmgr(*conversion),
                HasSubstr("create time_window prime_time\n"
                          "set time_window prime_time rrule = \"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\"\n"
                          "set time_window prime_time start_time = 06:00:00\n"
                          "set time_window prime_time end_time = 17:30:00\n"
                          "set time_window prime_time applies_on_holidays = False\n"
                          "set time_window prime_time type = prime\n"
                          "set server non_work_days += \"FREQ=YEARLY;BYYEARDAY=1\"\n"));
    EXPECT_THAT(to_text(conversion->report), Not(HasSubstr("there is no time_window of type prime")));
}

TEST(PbsHolidays, WherePrimeTimeNeverIsThePolicyIsThatOfNonPrimeTime) {
    const auto conversion =
        convert({.sched_config = by_time(),
                 .pbs_holidays = parsed("YEAR 2026\nweekday none all\nsaturday none all\nsunday none all\n")},
                {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(to_qmgr(*conversion), HasSubstr("set policy default_policy by_queue = False\n"));
    EXPECT_THAT(to_qmgr(*conversion), Not(HasSubstr("default_policy_prime")));
}

}  // namespace
}  // namespace pbs::migrate::test
