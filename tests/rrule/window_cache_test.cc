#include "rrule/window_cache.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

const std::vector<WindowSpec> kPrime{{"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", hm(8), hm(17), false}};
const std::vector<WindowSpec> kNights{{"FREQ=DAILY", hm(22), hm(6), true}};

// Returns whether two sets share the same compiled windows.
bool same_windows(const WindowSet& a, const WindowSet& b) {
    return &a.windows() == &b.windows();
}

TEST(WindowCache, WhatDidNotChangeKeepsWhatIsCompiled) {
    WindowCache cache;
    const WindowSet prime = *cache.set(kPrime, Zone::utc());
    EXPECT_TRUE(prime.contains(utc("2026-11-23 09:00")));
    const std::size_t compiled = prime.memory();
    const WindowSet again = *cache.set(kPrime, Zone::utc());
    EXPECT_TRUE(same_windows(prime, again));
    EXPECT_EQ(again.memory(), compiled);
    EXPECT_FALSE(same_windows(prime, *cache.set(kNights, Zone::utc())));
    EXPECT_FALSE(same_windows(prime, *cache.set(kPrime, zone("Europe/Berlin"))));
}

TEST(WindowCache, AChangedRuleTimeOrHolidayIsAnotherSet) {
    WindowCache cache;
    const WindowSet prime = *cache.set(kPrime, Zone::utc());
    std::vector<WindowSpec> changed = kPrime;
    changed[0].rrule += ",SA";
    EXPECT_TRUE(cache.set(changed, Zone::utc())->contains(utc("2026-11-21 09:00")));
    EXPECT_FALSE(prime.contains(utc("2026-11-21 09:00")));
    changed = kPrime;
    changed[0].end_time = hm(9);
    EXPECT_FALSE(cache.set(changed, Zone::utc())->contains(utc("2026-11-23 09:00")));
    changed = kPrime;
    changed[0].end_time = std::nullopt;
    EXPECT_TRUE(cache.set(changed, Zone::utc())->contains(utc("2026-11-23 23:00")));

    const std::vector<std::string> days{"11/23"};
    ASSERT_TRUE(cache.non_work_days(days, Zone::utc()));
    EXPECT_FALSE(cache.set(kPrime, Zone::utc())->contains(utc("2026-11-23 09:00")));
    EXPECT_TRUE(prime.contains(utc("2026-11-23 09:00")));
    // the window of the nights is open on holidays, too, so a change of the holidays doesn't affect it
    const WindowSet nights = *cache.set(kNights, Zone::utc());
    ASSERT_TRUE(cache.non_work_days({}, Zone::utc()));
    EXPECT_TRUE(same_windows(nights, *cache.set(kNights, Zone::utc())));
    EXPECT_TRUE(cache.set(kPrime, Zone::utc())->contains(utc("2026-11-23 09:00")));
}

TEST(WindowCache, WhatIsNoLongerAskedForIsDropped) {
    WindowCache cache;
    const WindowSet prime = *cache.set(kPrime, Zone::utc());
    const WindowSet nights = *cache.set(kNights, Zone::utc());
    cache.drop_unused();
    EXPECT_TRUE(same_windows(prime, *cache.set(kPrime, Zone::utc())));
    cache.drop_unused();
    EXPECT_TRUE(same_windows(prime, *cache.set(kPrime, Zone::utc())));
    EXPECT_FALSE(same_windows(nights, *cache.set(kNights, Zone::utc())));
}

TEST(WindowCache, ErrorsNameTheWindow) {
    WindowCache cache;
    std::vector<WindowSpec> specs = kPrime;
    specs.push_back({"FREQ=NEVER", {}, {}, true});
    std::size_t failed = 99;
    const auto refused = cache.set(specs, Zone::utc(), &failed);
    ASSERT_FALSE(refused);
    EXPECT_EQ(failed, 1U);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("FREQ='NEVER' is unknown"));
    const std::vector<std::string> days{"31/12"};
    EXPECT_FALSE(cache.non_work_days(days, Zone::utc()));
}

}  // namespace
}  // namespace pbs::rrule::test
