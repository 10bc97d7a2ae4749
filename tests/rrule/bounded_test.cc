// Tests that answers about a rule take a limited number of steps, which the tests count instead of measuring
// time.
#include "tests/rrule/cases.h"
#include "tests/rrule/definition.h"

namespace pbs::rrule::test {
namespace {

using Days = std::chrono::days;

// Limits on steps. The calendar has 8,400 years, from 1600 to 9999. An answer may consider each year a few
// times, but needs so many steps only if the rule hardly ever occurs.
constexpr std::uint64_t kMostParse = 20'000;
constexpr std::uint64_t kMostAnswer = 200'000;

// Asks every kind of question about a window. Returns the number of steps that the answers took.
std::uint64_t steps_of_answers(const Window& w) {
    const std::uint64_t before = w.recurrence().steps();
    const WindowSet set({w});
    const Instant now = utc("2026-11-21 10:00");
    const auto change = set.next_change(now);
    EXPECT_TRUE(!change || *change > now);
    set.contains(now);
    set.at_or_after(now);
    set.intervals(now, now + Days{3660});
    return w.recurrence().steps() - before;
}

TEST(Bounded, SparseRules) {
    struct Row {
        const char* rule;
        const char* next;  // first start on or after 2026-11-21
    };
    const Row rows[] = {
        {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "2044-02-29 08:00"},
        {"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "2044-02-29 08:00"},
        {"FREQ=WEEKLY;BYMONTH=2;BYDAY=MO;INTERVAL=401", "2062-02-13 08:00"},
        {"FREQ=YEARLY;INTERVAL=100;BYYEARDAY=366", "never occurs"},
        {"DTSTART:20000101 FREQ=YEARLY;INTERVAL=100;BYYEARDAY=366", "2400-12-31 08:00"},
        {"DTSTART:20000101 FREQ=YEARLY;INTERVAL=7999;BYYEARDAY=366", "never"},
        {"FREQ=YEARLY;INTERVAL=32767;BYMONTH=1;BYMONTHDAY=1", "never"},
        {"FREQ=MONTHLY;INTERVAL=32767;BYMONTHDAY=1", "4331-08-01 08:00"},
        {"FREQ=DAILY;INTERVAL=32767", "2049-07-26 08:00"},
        {"FREQ=HOURLY;INTERVAL=32767;BYHOUR=3;BYMONTH=2;BYMONTHDAY=29", "never occurs"},
        {"FREQ=YEARLY;BYWEEKNO=53;BYMONTH=1;BYMONTHDAY=3;BYDAY=SU", "2027-01-03 08:00"},
        {"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYDAY=SA;BYYEARDAY=-366", "2028-01-01 08:00"},
        {"RDATE:99991231", "9999-12-31 08:00"},
        {"DTSTART:99990101 FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31", "9999-12-31 08:00"},
        {"FREQ=MONTHLY;BYDAY=5MO,-5MO;BYMONTHDAY=31;BYMONTH=3", "2031-03-31 08:00"},
    };
    for (const Row& row : rows) {
        const auto made = Window::make({row.rule, hm(8), hm(9), true}, Zone::utc());
        if (!made) {
            EXPECT_STREQ(row.next, "never occurs") << row.rule << ": " << made.error().message;
            continue;
        }
        EXPECT_LE(made->recurrence().steps(), kMostParse) << row.rule;
        const auto next = WindowSet({*made}).at_or_after(utc("2026-11-21"));
        EXPECT_EQ(next ? text(next->start) : "never", row.next) << row.rule;
        EXPECT_LE(steps_of_answers(*made), kMostAnswer) << row.rule;
    }
}

// Rules with FREQ=MINUTELY that have gaps of centuries between occurrences.
TEST(Bounded, SparseMinutes) {
    struct Row {
        const char* rule;
        const char* next;  // first occurrence from 2026-11-21 on
    };
    const Row rows[] = {
        {"FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYHOUR=23;BYMINUTE=59", "2044-02-29 23:59"},
        {"FREQ=MINUTELY;INTERVAL=1441;BYMONTH=2;BYMONTHDAY=29;BYHOUR=3;BYMINUTE=7", "5436-02-29 03:07"},
        {"FREQ=MINUTELY;INTERVAL=32767;BYMONTH=2;BYMONTHDAY=29;BYHOUR=3;BYMINUTE=7", "2352-02-29 03:07"},
        {"FREQ=MINUTELY;INTERVAL=1439;BYMONTH=2;BYMONTHDAY=29;BYHOUR=3;BYMINUTE=7", "never occurs"},
        {"FREQ=MINUTELY;INTERVAL=32766;BYMINUTE=1", "never occurs"},
    };
    for (const Row& row : rows) {
        const auto rule = Recurrence::parse(std::string("DTSTART:20261121T000000 ") + row.rule, Zone::utc(),
                                            Seconds{0}, Recurrence::Finest::minutely);
        if (!rule) {
            EXPECT_STREQ(row.next, "never occurs") << row.rule << ": " << rule.error().message;
            continue;
        }
        const auto next = rule->occurrences(local("2026-11-21"), local("9999-12-31"), 1);
        EXPECT_EQ(next.empty() ? "never" : text(next[0]), row.next) << row.rule;
        EXPECT_LE(rule->steps(), kMostParse) << row.rule;
    }
}

// A rule that occurs at every second: none has more occurrences. The steps are proportional to the number of
// days, not of occurrences.
TEST(Bounded, EverySecondOfTheDay) {
    std::string all = ";BYMINUTE=0";
    for (int i = 1; i < 60; ++i) all += "," + std::to_string(i);
    all += ";BYSECOND=0";
    for (int i = 1; i < 60; ++i) all += "," + std::to_string(i);
    std::string hours = ";BYHOUR=0";
    for (int i = 1; i < 24; ++i) hours += "," + std::to_string(i);
    for (const std::string& rule : {"FREQ=HOURLY" + all, "FREQ=DAILY" + hours + all,
                                    "FREQ=YEARLY;BYDAY=MO,TU" + hours + all + ";BYSETPOS=1,-1",
                                    "FREQ=WEEKLY" + hours + all + ";BYSETPOS=-366",
                                    "DTSTART:20260101T000000 FREQ=HOURLY;COUNT=100000" + all,
                                    "DTSTART:20260101T000000 FREQ=HOURLY;UNTIL=20270101T000000Z" + all}) {
        const Window w = window(rule, hm(8), hm(9), Zone::utc());
        EXPECT_LE(w.recurrence().steps(), 200'000U) << rule.substr(0, 40);
        EXPECT_LE(steps_of_answers(w), 3'000'000U) << rule.substr(0, 40);
    }
}

// BYSETPOS chooses one time of the 604,800 seconds of a week, 100,000 times. The steps are proportional to
// the number of chosen times.
TEST(Bounded, PositionsInSetsOfAllSeconds) {
    const auto all = [](const char* name, int last) {
        std::string text = std::string(";") + name + "=0";
        for (int i = 1; i <= last; ++i) text += "," + std::to_string(i);
        return text;
    };
    const std::string rule =
        "DTSTART:16010101T000000 FREQ=WEEKLY;COUNT=100000;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=-1" +
        all("BYHOUR", 23) + all("BYMINUTE", 59) + all("BYSECOND", 59);
    const Window w = window(rule, hm(8), hm(9), Zone::utc());
    // the last two of 100,000 occurrences, which are Sundays; the first occurrence is 7 January 1601
    EXPECT_THAT(w.recurrence().days(day("3517-07-05"), day("3600-01-01")),
                testing::ElementsAre(day("3517-07-08"), day("3517-07-15")));
    EXPECT_LE(w.recurrence().steps(), 200'000U);
}

// A question for at most 100 occurrences of a random rule with FREQ=MINUTELY takes a limited number of steps.
TEST(Bounded, EveryRandomRuleOfMinutesAnswers) {
    Random random(14);
    for (int i = 0; i < cases(400); ++i) {
        Definition definition = random_definition(random, Unit::minute);
        if (pick(random, 1, 3) == 1) definition.interval = pick(random, 1, 32767);
        const auto rule =
            Recurrence::parse(definition.text(), Zone::utc(), Seconds{0}, Recurrence::Finest::minutely);
        if (!rule) continue;
        ASSERT_LE(rule->occurrences(local("2018-01-01"), local("9999-12-31"), 100).size(), 100U);
        ASSERT_LE(rule->steps(), kMostParse) << definition.text();
    }
}

TEST(Bounded, EveryRandomRuleAnswers) {
    Random random(99);
    std::uint64_t most = 0;
    int windows = 0;
    for (int i = 0; i < cases(800); ++i) {
        Definition definition = random_definition(random);
        // make most of the rules sparse
        if (pick(random, 1, 4) == 1) definition.interval = pick(random, 1, 32767);
        if (pick(random, 1, 4) == 1) definition.months = {2};
        std::string rule = definition.text();
        if (pick(random, 1, 5) == 1) rule += ";UNTIL=20300101T000000Z";
        if (pick(random, 1, 5) == 1) rule += " EXDATE:20270101,20280229 RDATE:90000101";
        const auto made = Window::make({rule, hm(pick(random, 0, 23)), hm(pick(random, 0, 24)), true},
                                       zone("America/Los_Angeles"));
        if (!made) {
            ASSERT_FALSE(made.error().message.empty());
            continue;
        }
        ++windows;
        ASSERT_LE(made->recurrence().steps(), kMostParse) << rule;
        const std::uint64_t steps = steps_of_answers(*made);
        ASSERT_LE(steps, kMostAnswer) << rule;
        most = std::max(most, steps);
    }
    EXPECT_GT(windows, cases(300));
    RecordProperty("most_steps", std::to_string(most));
}

// A search for the overlap of two windows takes a limited number of steps: it considers the years and days of
// a cycle of 400 years, or of all years up to 9999.
TEST(Bounded, OverlapsAnswer) {
    Random random(3);
    const std::vector<std::string> entries{"12/25", "FREQ=WEEKLY;INTERVAL=3;BYDAY=FR"};
    const NonWorkDays holidays = *NonWorkDays::parse(entries, Zone::utc());
    std::uint64_t most = 0;
    for (int i = 0; i < cases(400); ++i) {
        Definition a = random_definition(random);
        Definition b = random_definition(random);
        if (i % 3 == 0) a.interval = pick(random, 1, 32767);
        if (i % 4 == 0) b.interval = pick(random, 1, 32767);
        const Zone there = zone(i % 5 == 0 ? "Europe/Berlin" : "UTC");
        // 9:00 in Berlin is 8:00 or 7:00 in UTC. So the windows often nearly overlap.
        const auto wa = Window::make({a.text(), hm(8), hm(9), i % 2 == 0}, Zone::utc());
        const auto wb =
            Window::make({b.text(), hm(i % 5 == 0 ? 11 : 9), hm(i % 5 == 0 ? 12 : 10), true}, there);
        if (!wa || !wb) continue;
        OverlapSearch search(holidays, utc("2026-11-21"));
        search.of(*wa, *wb);
        EXPECT_LE(search.work(), 40'000U) << a.text() << " | " << b.text();
        most = std::max(most, search.work());
    }
    RecordProperty("most_work", std::to_string(most));
}

TEST(Bounded, NonWorkDaysThatHideAWindowForEver) {
    const std::vector<std::string> entries{"FREQ=WEEKLY;BYDAY=FR", "02/29", "12/25/2400"};
    const NonWorkDays holidays = *NonWorkDays::parse(entries, Zone::utc());
    const Window friday = window("FREQ=WEEKLY;BYDAY=FR", hm(8), hm(9), zone("Europe/Berlin"), false);
    const WindowSet set({friday}, holidays);
    EXPECT_EQ(set.next_change(utc("2026-01-01")), std::nullopt);
    EXPECT_EQ(set.at_or_after(utc("2026-01-01")), std::nullopt);
    // the search considers the 400 years after the last single date a few times, and not the years up to 9999
    EXPECT_LE(friday.recurrence().steps(), 400'000U);
    EXPECT_LE(holidays.steps(), 1'000'000U);
}

// Until 2027, the window would open once a year, on the day on which the clock skips its hour. The set finds
// that the window first opens in 2027.
TEST(Bounded, AnHourThatIsSkippedForYears) {
    const WindowSet set({window("DTSTART:20210314 FREQ=WEEKLY;INTERVAL=52", hm(2, 15), hm(2, 45),
                                zone("America/Los_Angeles"))});
    const auto next = set.at_or_after(utc("2021-01-01"));
    ASSERT_TRUE(next);
    EXPECT_EQ(text(next->start), "2027-03-07 10:15");
}

}  // namespace
}  // namespace pbs::rrule::test
