#include "tools/calendar/reservation_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/rrule/support.h"

namespace pbs::calendar {
namespace {

using rrule::test::utc;

std::string seconds(rrule::Instant t) {
    return std::to_string(t.time_since_epoch().count());
}

using Attributes = std::map<std::string, std::string, std::less<>>;

std::vector<ReservationTime> times_of(const Attributes& attributes) {
    return reservation_times([&](std::string_view name) -> std::string_view {
        const auto found = attributes.find(name);
        return found == attributes.end() ? std::string_view() : found->second;
    });
}

std::string text_of(const std::vector<ReservationTime>& times) {
    std::string text;
    for (const ReservationTime& one : times)
        text += seconds(one.when.start) + "+" + std::to_string((one.when.end - one.when.start).count()) +
                " " + one.vnodes + "\n";
    return text;
}

// A standing reservation from 9 to 11 on Tuesdays and Thursdays, five times, across the end of summer time.
// Its second occurrence is the next one.
Attributes course() {
    return {{"reserve_start", seconds(utc("2026-10-22 07:00"))},
            {"reserve_end", seconds(utc("2026-10-22 09:00"))},
            {"reserve_rrule", "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=5"},
            {"reserve_timezone", "Europe/Vienna"},
            {"reserve_count", "5"},
            {"reserve_index", "2"},
            {"resv_nodes", "(n1:ncpus=1)"},
            {"reserve_execvnodes", "4#(n1:ncpus=1){0-1}(n2:ncpus=1){2-3}"}};
}

std::string rest_of_course(rrule::Instant next) {
    return seconds(next) + "+7200 (n1:ncpus=1)\n" + seconds(utc("2026-10-27 08:00")) +
           "+7200 (n1:ncpus=1)\n" + seconds(utc("2026-10-29 08:00")) + "+7200 (n2:ncpus=1)\n" +
           seconds(utc("2026-11-03 08:00")) + "+7200 (n2:ncpus=1)\n";
}

TEST(ReservationTimes, AnAdvanceReservationHasOneTime) {
    Attributes one = course();
    one["reserve_count"] = "1";
    one.erase("reserve_index");
    EXPECT_EQ(text_of(times_of(one)), seconds(utc("2026-10-22 07:00")) + "+7200 (n1:ncpus=1)\n");
    one["reserve_end"] = one["reserve_start"];
    EXPECT_TRUE(times_of(one).empty());
    EXPECT_TRUE(times_of({}).empty());
}

TEST(ReservationTimes, AStandingReservationFollowsItsRuleByTheWallClock) {
    EXPECT_EQ(text_of(times_of(course())), rest_of_course(utc("2026-10-22 07:00")));
}

TEST(ReservationTimes, LaterOnesDontFollowAnAlteredOneWhereTheServerTellsTheStartOfTheSeries) {
    Attributes moved = course();
    moved["series_start"] = seconds(utc("2026-10-20 07:00"));
    moved["series_duration"] = "7200";
    moved["reserve_start"] = seconds(utc("2026-10-22 08:30"));
    moved["reserve_end"] = seconds(utc("2026-10-22 10:30"));
    EXPECT_EQ(text_of(times_of(moved)), rest_of_course(utc("2026-10-22 08:30")));
}

TEST(ReservationTimes, WithoutARuleThatCanBeReadAreTheNextAlone) {
    for (const auto& [name, value] :
         {std::pair{"reserve_rrule", "FREQ=DAILY"}, std::pair{"reserve_rrule", "nonsense"},
          std::pair{"reserve_timezone", "Europe/Nowhere"}}) {
        Attributes bad = course();
        bad[name] = value;
        EXPECT_EQ(times_of(bad).size(), 1U) << value;
    }
}

}  // namespace
}  // namespace pbs::calendar
