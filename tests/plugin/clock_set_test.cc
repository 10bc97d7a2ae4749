// Tests that only the present time determines which policy is in force, after the clock was set or the
// machine was asleep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {

constexpr auto kNothing = static_cast<uint32_t>(PBS_WANT_NOTHING);
constexpr auto kCycle = static_cast<uint32_t>(PBS_WANT_CYCLE);
constexpr auto kSwitch = static_cast<uint32_t>(PBS_WANT_CYCLE | PBS_WANT_POLICY_SWITCH);
constexpr int64_t kHour = 3600;

// Prime time is from 08:00 to 17:00. The test begins on Monday, at 10:00.
class ClockSet : public ::testing::Test {
  protected:
    void SetUp() override {
        host.bring_up();
        ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "office",
                               {{"type", "prime"},
                                {"rrule", "FREQ=DAILY"},
                                {"start_time", "0800"},
                                {"end_time", "1700"}})
                      .code,
                  0);
        ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "night").code, 0);
        ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy,np:night").code, 0);
        host.tick();
        EXPECT_EQ(active(), "default_policy");
    }
    // Ticks if something is due, as the host does (server_plugin/host/cycle/cycle.cc).
    uint32_t look() { return host.next_deadline() <= host.now ? host.tick() : kNothing; }
    std::string active() { return host.attributes_of(PBS_OBJ_SCHED, "default")["active_policy"]; }

    FakeHost host;
};

TEST_F(ClockSet, ForwardsOverManyBoundariesIsOneSwitch) {
    host.now = kMonday10 + 3 * 24 * kHour + 10 * kHour;  // Thursday, 20:00
    EXPECT_EQ(look(), kSwitch);
    EXPECT_EQ(active(), "night");
    EXPECT_EQ(host.next_deadline(), kMonday10 + 4 * 24 * kHour - 2 * kHour);
    EXPECT_EQ(look(), kNothing);
}

TEST_F(ClockSet, ForwardsIntoTheSamePolicyIsACycleWithoutASwitch) {
    host.now = kMonday10 + 3 * 24 * kHour;
    EXPECT_EQ(look(), kCycle);
    EXPECT_EQ(active(), "default_policy");
    EXPECT_EQ(host.next_deadline(), kMonday10 + 3 * 24 * kHour + 7 * kHour);
}

TEST_F(ClockSet, BackOverABoundaryIsASwitchAtOnce) {
    host.now = kMonday10 - 5 * kHour;
    EXPECT_EQ(look(), kSwitch);
    EXPECT_EQ(active(), "night");
    EXPECT_EQ(host.next_deadline(), kMonday10 - 2 * kHour);
    EXPECT_EQ(look(), kNothing) << "once";
    host.now = kMonday10 - 2 * kHour;
    EXPECT_EQ(look(), kSwitch) << "the boundary comes again";
    EXPECT_EQ(active(), "default_policy");
}

TEST_F(ClockSet, BackWithinTheSamePolicyIsACycleWithoutASwitch) {
    host.now = kMonday10 - kHour;
    EXPECT_EQ(look(), kCycle);
    EXPECT_EQ(host.next_deadline(), kMonday10 + 7 * kHour);
    host.now = kMonday10 - 3 * 24 * kHour;
    EXPECT_EQ(look(), kCycle);
    EXPECT_EQ(active(), "default_policy");
}

TEST_F(ClockSet, ByYearsBothWays) {
    host.now = kMonday10 + 40LL * 365 * 24 * kHour;
    EXPECT_EQ(look(), kCycle);
    EXPECT_GT(host.next_deadline(), host.now);
    EXPECT_LE(host.next_deadline(), host.now + 24 * kHour);
    host.now = kHour;  // 1970, as on a machine without a battery
    EXPECT_EQ(look(), kSwitch);
    EXPECT_EQ(active(), "night");
    EXPECT_EQ(host.next_deadline(), 8 * kHour);
}

}  // namespace
}  // namespace pbs::plugin_test
