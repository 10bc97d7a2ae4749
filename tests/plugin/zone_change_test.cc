// Tests that the server notices a change of the tz database while it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {

namespace fs = std::filesystem;

// A server whose time zone is a file of the test, which at first has the data of Berlin.
class ZoneChange : public ::testing::Test {
  protected:
    void SetUp() override {
        zoneinfo = host.home() / "zoneinfo";
        fs::create_directories(zoneinfo);
        setenv("TZDIR", zoneinfo.c_str(), 1);
        put("Europe/Berlin");
        host.host.time_zone = {"Here", 4};
        host.now = kJuly;
        host.bring_up();
    }
    void TearDown() override {
        host.stop();
        unsetenv("TZDIR");
    }
    void put(const char* data) const {
        fs::copy_file(fs::path("/usr/share/zoneinfo") / data, zoneinfo / "new");
        fs::rename(zoneinfo / "new", zoneinfo / "Here");
    }
    void prime_window(const std::string& rule) {
        ASSERT_EQ(
            host.manager(PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "office",
                         {{"type", "prime"}, {"rrule", rule}, {"start_time", "0800"}, {"end_time", "1700"}})
                .code,
            0);
        ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "night").code, 0);
        ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy,np:night").code, 0);
    }
    std::string active() { return host.attributes_of(PBS_OBJ_SCHED, "default")["active_policy"]; }

    static constexpr int64_t kJuly = 1782885600;  // 2026-07-01 06:00 UTC, 08:00 in Berlin
    static constexpr auto kNothing = static_cast<uint32_t>(PBS_WANT_NOTHING);
    static constexpr auto kSwitch = static_cast<uint32_t>(PBS_WANT_CYCLE | PBS_WANT_POLICY_SWITCH);
    FakeHost host;
    fs::path zoneinfo;
};

TEST_F(ZoneChange, WindowsAndTheTimerFollow) {
    prime_window("FREQ=DAILY");
    host.tick();
    EXPECT_EQ(active(), "default_policy");
    EXPECT_EQ(host.next_deadline(), kJuly + 9 * 3600);
    host.now += 60;
    EXPECT_EQ(host.next_deadline(), kJuly + 9 * 3600) << "nothing changed";

    put("Africa/Lagos");  // Lagos has no summer time: it is 07:01, an hour before prime time
    host.now += 60;
    EXPECT_EQ(host.next_deadline(), host.now) << "there is something to do at once";
    EXPECT_TRUE(host.logged("time zone database"));
    EXPECT_EQ(host.tick(), kSwitch) << "the policy that is in force is another one";
    EXPECT_EQ(active(), "night");
    EXPECT_EQ(host.next_deadline(), kJuly + 3600);
    EXPECT_EQ(host.tick(), kNothing) << "once";
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default")["next_policy_change"],
                testing::HasSubstr("08:00"));
    host.now = kJuly + 3600;
    EXPECT_EQ(host.tick(), kSwitch);
    EXPECT_EQ(active(), "default_policy");
}

TEST_F(ZoneChange, ARuleInAnotherZoneFollows) {
    fs::copy_file(zoneinfo / "Here", zoneinfo / "There");
    prime_window("DTSTART;TZID=There:20260101T000000 FREQ=DAILY");
    host.tick();
    EXPECT_EQ(host.next_deadline(), kJuly + 9 * 3600);
    fs::copy_file("/usr/share/zoneinfo/Africa/Lagos", zoneinfo / "There",
                  fs::copy_options::overwrite_existing);
    host.now += 60;
    EXPECT_EQ(host.tick(), kSwitch);
    EXPECT_EQ(active(), "night");
    EXPECT_EQ(host.next_deadline(), kJuly + 3600);
}

TEST_F(ZoneChange, ATickFindsItToo) {
    prime_window("FREQ=DAILY");
    host.tick();
    put("Africa/Lagos");
    host.now += 60;
    EXPECT_EQ(host.tick(), kSwitch);
    EXPECT_EQ(active(), "night");
}

TEST_F(ZoneChange, NewDataThatChangeNothingAtPresentOnlyCauseACycle) {
    prime_window("FREQ=DAILY");
    host.tick();
    put("Europe/Vienna");
    host.now += 60;
    EXPECT_EQ(host.next_deadline(), host.now);
    EXPECT_EQ(host.tick(), static_cast<uint32_t>(PBS_WANT_CYCLE));
    EXPECT_EQ(active(), "default_policy");
    EXPECT_EQ(host.next_deadline(), kJuly + 9 * 3600);
}

}  // namespace
}  // namespace pbs::plugin_test
