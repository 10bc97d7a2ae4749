#include "tools/simulate/progress.h"

#include <gtest/gtest.h>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

TEST(ProgressLine, IsABarWithPercentAndTime) {
    EXPECT_EQ(progress_line("day", {50, 200, kMonday}, rrule::Zone::utc(), 79),
              "[#######                       ]  25%  2026-11-23 00:00  day");
    EXPECT_EQ(progress_line("day", {200, 200, kMonday}, rrule::Zone::utc(), 79),
              "[##############################] 100%  2026-11-23 00:00  day");
    EXPECT_EQ(progress_line("day", {0, 0, kMonday}, rrule::Zone::utc(), 10), "[         ");
}

}  // namespace
}  // namespace pbs::simulate::test
