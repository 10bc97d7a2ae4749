#include "tools/simulate/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

const rrule::Zone kZone = rrule::Zone::utc();

TEST(ProgressLine, IsABarWithPercentAndTime) {
    EXPECT_EQ(progress_line("day", {50, 200, kMonday}, std::nullopt, kZone, 79),
              "[#######                       ]  25%  2026-11-23 00:00  day");
    EXPECT_EQ(progress_line("day", {50, 200, kMonday}, Seconds(3725), kZone, 79),
              "[#######                       ]  25%  2026-11-23 00:00  1:02:05 left  day");
    EXPECT_EQ(progress_line("day", {200, 200, kMonday}, std::nullopt, kZone, 79),
              "[##############################] 100%  2026-11-23 00:00  day");
    EXPECT_EQ(progress_line("day", {0, 0, kMonday}, std::nullopt, kZone, 10), "[         ");
}

// The instants at which the tests note progress.
ProgressShow::Time after(double seconds) {
    using std::chrono::duration;
    return ProgressShow::Time{} +
           std::chrono::duration_cast<ProgressShow::Time::duration>(duration<double>(seconds));
}

TEST(ProgressShow, OnATerminalItDrawsTheBarAgainFromTimeToTime) {
    ProgressShow show({"day"}, kZone, 79, after(0));
    EXPECT_EQ(show.note(0, {50, 200, kMonday}, after(0.05)), "");
    EXPECT_EQ(show.note(0, {50, 200, kMonday}, after(0.2)),
              "\r[#######                       ]  25%  2026-11-23 00:00  day\033[K");
    EXPECT_EQ(show.note(0, {60, 200, kMonday}, after(0.25)), "");
    EXPECT_EQ(show.note(0, {100, 200, kMonday}, after(4)),
              "\r[###############               ]  50%  2026-11-23 00:00  0:00:04 left  day\033[K");
    EXPECT_EQ(show.end(), "\r\033[K");
}

TEST(ProgressShow, ElsewhereItWritesALineEveryTenSeconds) {
    ProgressShow show({"day"}, kZone, std::nullopt, after(0));
    EXPECT_EQ(show.note(0, {1, 200, kMonday}, after(9.9)), "");
    EXPECT_EQ(show.note(0, {20, 200, kMonday}, after(10)),
              "pbs_simulate: 10%, 2026-11-23 00:00, 0:01:30 left: day\n");
    EXPECT_EQ(show.note(0, {30, 200, kMonday}, after(19)), "");
    EXPECT_EQ(show.note(0, {100, 200, kMonday}, after(20)),
              "pbs_simulate: 50%, 2026-11-23 00:00, 0:00:20 left: day\n");
    EXPECT_EQ(show.end(), "");
}

TEST(ProgressShow, TwoSimulationsHaveOneBar) {
    ProgressShow show({"day", "night"}, kZone, std::nullopt, after(0));
    EXPECT_EQ(show.note(1, {100, 200, kMonday + Seconds(3600)}, after(1)), "");
    EXPECT_EQ(show.note(0, {20, 200, kMonday}, after(10)),
              "pbs_simulate: 30%, 2026-11-23 00:00, 0:00:23 left: day 10%, night 50%\n");
}

}  // namespace
}  // namespace pbs::simulate::test
