#include "server_plugin/scheduler/model/outage_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/model/host_name.h"

namespace pbs::sched {
namespace {

using std::chrono::sys_days;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

Instant on(int month, int day, int hour) {
    return sys_days(std::chrono::year(1999) / month / day) + std::chrono::hours(hour);
}

const rrule::Zone kUtc = rrule::Zone::utc();

// The sample output of a dedicated time command in the guide.
constexpr std::string_view kSample =
    "    GRUMPY       07/07/1999 16:00-19:00 07/07/1999  Large job runs (berferd)\n"
    "    HAPPY        07/09/1999 16:00-19:00 07/09/1999  Administrative period \n"
    "                                                    (preventive maintenance)\n"
    "    SLEEPY       07/14/1999 16:00-19:00 07/14/1999  Install latest compiler.\n"
    "    SLEEPY       07/28/1999 10:00-16:00 07/28/1999  Preventive maintenance\n"
    "    SPORK        08/20/1999 09:00-09:00 08/21/1999  All day outage for power\n"
    "                                                    supply and CPU board swap.\n";

std::string error(std::string_view text) {
    const auto parsed = parse_outages(text, "A", kUtc);
    return parsed ? "no error" : parsed.error().message;
}

TEST(OutageList, EntriesOfTheSystemAskedForAlone) {
    EXPECT_THAT(parse_outages(kSample, "sleepy", kUtc).value(),
                ElementsAre(Outage{on(7, 14, 16), on(7, 14, 19), "Install latest compiler."},
                            Outage{on(7, 28, 10), on(7, 28, 16), "Preventive maintenance"}));
    EXPECT_THAT(parse_outages(kSample, "dopey", kUtc).value(), IsEmpty());
}

TEST(OutageList, ContinuationLinesAreOfTheDescription) {
    EXPECT_THAT(
        parse_outages(kSample, "happy", kUtc).value(),
        ElementsAre(Outage{on(7, 9, 16), on(7, 9, 19), "Administrative period (preventive maintenance)"}));
    EXPECT_THAT(parse_outages(kSample, "spork.nas.nasa.gov", kUtc).value(),
                ElementsAre(Outage{on(8, 20, 9), on(8, 21, 9),
                                   "All day outage for power supply and CPU board swap."}));
}

TEST(OutageList, EntriesNeedNoIndentation) {
    EXPECT_EQ(parse_outages("A 07/07/1999 16:00-19:00 07/07/1999 x\n  on 07/09/1999 it goes on", "A", kUtc)
                  .value()
                  .at(0)
                  .description,
              "x on 07/09/1999 it goes on");
}

TEST(OutageList, TheLineForNoDowntimeGivesAnEmptyList) {
    EXPECT_THAT(parse_outages("No scheduled downtime for the specified period.\n", "A", kUtc).value(),
                IsEmpty());
    EXPECT_THAT(parse_outages("", "A", kUtc).value(), IsEmpty());
    EXPECT_THAT(parse_outages("\r\n  \n", "A", kUtc).value(), IsEmpty());
}

TEST(OutageList, TimesAreThoseOfTheServersZone) {
    const auto berlin = rrule::Zone::find("Europe/Berlin").value();
    const auto outages = parse_outages("A 07/07/1999 16:00-24:00 07/07/1999", "A", berlin).value();
    EXPECT_EQ(outages.at(0).start, on(7, 7, 14));
    EXPECT_EQ(outages.at(0).end, on(7, 7, 22));
}

TEST(OutageList, AreInOrderOfTheirStart) {
    const auto outages = parse_outages(
        "A 07/09/1999 16:00-19:00 07/09/1999 second\nA 07/07/1999 16:00-19:00 07/07/1999 first", "A", kUtc);
    EXPECT_EQ(outages.value().at(0).description, "first");
}

TEST(OutageList, MistakesNameTheLineAndWhatWasExpected) {
    EXPECT_EQ(
        error("A 07/07/1999 16:00-19:00 07/07/1999\nschedule: no server"),
        "line 2: `schedule: no server`: expected `NAME MM/DD/YYYY HH:MM-HH:MM MM/DD/YYYY description`, or a "
        "line indented further that goes on with a description");
    EXPECT_EQ(error("  goes on"),
              "line 1: `goes on`: expected `NAME MM/DD/YYYY HH:MM-HH:MM MM/DD/YYYY "
              "description`, or a line indented further that goes on with a description");
    EXPECT_EQ(error("B 07/07/1999 16:00-15:00 07/07/1999"),
              "line 1: `B 07/07/1999 16:00-15:00 07/07/1999`: expected an end after the start");
    for (const char* line : {"A 13/07/1999 16:00-19:00 07/07/1999", "A 02/30/1999 16:00-19:00 07/07/1999",
                             "A 07/07/1999 25:00-26:00 07/07/1999", "A 07/07/1999 16:60-19:00 07/07/1999",
                             "A 07/07/1999 16:00 19:00 07/07/1999", "A 7/7/1999 16:00-19:00 7/7/1999",
                             "A 07/07/1999 16:00-19:00", "A 07/07/1999 24:30-24:31 07/08/1999"})
        EXPECT_NE(error(line), "no error") << line;
}

TEST(HostName, IsTheSameWithAndWithoutDomainAndInAnyCase) {
    EXPECT_TRUE(same_host_name("hopper", "HOPPER.nas.nasa.gov"));
    EXPECT_FALSE(same_host_name("hop", "hopper"));
    EXPECT_FALSE(same_host_name("hopper.nas", "hopper.nas.nasa.gov"));
    EXPECT_FALSE(same_host_name("", ".x"));
    EXPECT_TRUE(same_host_name("", ""));
}

}  // namespace
}  // namespace pbs::sched
