#include "tools/calendar/dates.h"

#include "tests/calendar/support.h"

namespace pbs::calendar::test {
namespace {

TEST(Dates, TimesAreOfTheZone) {
    const rrule::Zone vienna = *rrule::Zone::find("Europe/Vienna");
    EXPECT_EQ(parse_time("2026-11-23", vienna), utc("2026-11-22 23:00"));
    EXPECT_EQ(parse_time("2026-07-01 08:30", vienna), utc("2026-07-01 06:30"));
    EXPECT_EQ(parse_time("2026-11-23T08:30:15", vienna), utc("2026-11-23 07:30:15"));
    EXPECT_EQ(parse_month("2026-02"), std::chrono::year(2026) / 2);
}

TEST(Dates, AnythingElseIsRefusedByName) {
    for (const char* bad :
         {"", "2026", "2026-1-1", "2026-02-30", "2026-13-01", "2026-11-23 ", "2026-11-23 8:30",
          "2026-11-23 24:00", "2026-11-23 08:60", "2026-11-23 08:30:", "2026-11-23 08:30:1x", "-026-11-23",
          "1600-12-31", "9999-01-01", "2026-11-23x", "tomorrow"}) {
        const auto refused = parse_time(bad, rrule::Zone::utc());
        ASSERT_FALSE(refused) << bad;
        EXPECT_THAT(refused.error(), testing::HasSubstr(std::string("'") + bad + "': expected YYYY-MM-DD"));
    }
    for (const char* bad : {"", "2026", "2026-00", "2026-13", "2026-1", "2026-011", "may"})
        EXPECT_FALSE(parse_month(bad)) << bad;
}

}  // namespace
}  // namespace pbs::calendar::test
