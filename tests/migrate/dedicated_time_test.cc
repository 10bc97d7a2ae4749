#include "migrate/dedicated_time.h"

#include <fmt/format.h>

#include "migrate/convert.h"
#include "objects/store.h"
#include "rrule/window_set.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DedicatedTime parsed(const std::string& text) {
    auto file = parse_dedicated_time(text, "dedicated_time");
    EXPECT_THAT(texts(file.mistakes), IsEmpty());
    return file;
}

std::vector<std::string> windows(const std::string& text) {
    std::vector<std::string> out;
    for (const DedicatedWindow& w : dedicated_windows(parsed(text).periods))
        out.push_back(fmt::format("{} {:02}:{:02}-{:02}:{:02}", w.rrule, w.start / 60, w.start % 60,
                                  w.end / 60, w.end % 60));
    return out;
}

TEST(DedicatedTime, PeriodsBecomeWindows) {
    EXPECT_THAT(
        windows("# FORMAT\n* too\n04/15/2027 12:00 04/15/2027 15:30\r\n\n4/16/2027 12:00 4/16/2027 15:30"),
        ElementsAre("RDATE;VALUE=DATE:20270415,20270416 12:00-15:30"));
    EXPECT_THAT(
        windows("12/30/2027 22:00 01/02/2028 6:00\n"),
        ElementsAre("RDATE;VALUE=DATE:20271230 22:00-24:00", "RDATE;VALUE=DATE:20271231,20280101 00:00-24:00",
                    "RDATE;VALUE=DATE:20280102 00:00-06:00"))
        << "cut at midnights";
    EXPECT_THAT(
        windows("01/02/27 00:00 01/02/27 24:00\n01/02/95 1:00 01/03/95 0:00\n"),
        ElementsAre("RDATE;VALUE=DATE:20270102 00:00-24:00", "RDATE;VALUE=DATE:19950102 01:00-24:00"));
    EXPECT_THAT(windows(""), IsEmpty());
}

TEST(DedicatedTime, MistakesHaveTheirPlaces) {
    const auto file = parse_dedicated_time(
        "04/15/2027 12:00\n13/01/2027 12:00 02/30/2027 25:00\n04/15/2027 12:00 04/15/2027 12:00\n"
        "04/15/2027 12:00 04/15/2027 13:00 more\n04/15/2027 12:00 04/17/2028 13:00\nx 1 y 2\n",
        "d");
    ASSERT_EQ(file.periods.size(), 1U);
    EXPECT_EQ(file.periods[0].line, 4) << "what stands behind a period doesn't count";
    EXPECT_EQ(note_of(file.mistakes[5]),
              "d:4:35: expected two dates with times, MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM; 'more' and what "
              "follows it is left out, the period counts");
    EXPECT_THAT(texts(file.mistakes),
                ElementsAre("d:1:12: expected two dates with times, MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM",
                            "d:2:1: '13/01/2027' is not a date MM/DD/YYYY, such as 04/15/2027",
                            "d:2:18: '02/30/2027' is not a date MM/DD/YYYY, such as 04/15/2027",
                            "d:2:29: '25:00' is not a time of day HH:MM up to 24:00",
                            "d:3:18: the end is not after the start, expected a later date or time",
                            HasSubstr("d:4:35: expected two dates"),
                            "d:5:18: the end is more than a year after the start, expected an earlier one",
                            HasSubstr("d:6:1: 'x'"), HasSubstr("d:6:3: '1'"), HasSubstr("d:6:5: 'y'"),
                            HasSubstr("d:6:7: '2'")));
}

TEST(DedicatedTime, TheObjectsMeanTheSameMinuteByMinute) {
    const std::string text =
        "01/02/2027 22:00 01/05/2027 06:30\n01/10/2027 12:00 01/10/2027 13:00\n01/10/2027 12:30 01/10/2027 "
        "14:15\n"
        "01/20/2027 00:00 01/21/2027 00:00\n02/20/2027 12:00 02/20/2027 13:00\n";
    const DedicatedTime file = parsed(text);
    const Folder folder;
    auto store = objects::Store::open(folder.path("policy.db"), {"UTC", {}}, std::chrono::sys_seconds{});
    ASSERT_TRUE(store);
    const auto conversion =
        convert({.sched_config = SchedConfig{}, .dedicated_time = file}, {}, store->snapshot().get());
    ASSERT_TRUE(conversion);
    EXPECT_THAT(to_qmgr(*conversion), HasSubstr("set time_window dedicated_time type = dedicated\n"));
    const auto applied =
        store->apply(conversion->changes, {"root", "localhost", objects::manager_privilege}, {});
    ASSERT_TRUE(applied) << applied.error().message;
    const auto again =
        convert({.sched_config = SchedConfig{}, .dedicated_time = file}, {}, applied->snapshot.get());
    EXPECT_TRUE(again->changes.commands.empty()) << to_qmgr(*again);

    const auto zone = *rrule::Zone::find("UTC");
    std::vector<rrule::Window> made;
    for (const objects::Object* object : applied->snapshot->time_windows_of_type("dedicated"))
        made.push_back(
            *rrule::Window::make({std::string(object->text("rrule")), object->seconds("start_time"),
                                  object->seconds("end_time"), object->boolean("applies_on_holidays")},
                                 zone));
    const rrule::WindowSet dedicated(made, rrule::NonWorkDays{});
    const rrule::Instant from = zone.instant(std::chrono::local_days{std::chrono::year{2026} / 12 / 1});
    std::size_t wrong = 0;
    for (int minute = 0; minute < 120 * 1440; ++minute) {
        const rrule::Instant at = from + std::chrono::minutes{minute};
        const bool expected = std::ranges::any_of(file.periods, [&](const DedicatedPeriod& p) {
            return p.from <= zone.local(at) && zone.local(at) < p.to;
        });
        wrong += dedicated.contains(at) != expected ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0U);
}

TEST(DedicatedTime, WhatIsOverIsLeftOut) {
    const DedicatedTime file =
        parsed("04/15/1998 12:00 04/15/1998 15:30\n04/15/2027 12:00 04/15/2027 15:30\n");
    const Surroundings server{{}, {}, {}, std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}};
    const auto conversion = convert({.sched_config = SchedConfig{}, .dedicated_time = file}, server, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(to_qmgr(*conversion), HasSubstr("rrule = \"RDATE;VALUE=DATE:20270415\""));
    EXPECT_THAT(to_text(conversion->report),
                HasSubstr("note: dedicated_time:1: the dedicated time is over and left out\n"));
}

}  // namespace
}  // namespace pbs::migrate::test
