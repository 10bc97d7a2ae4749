// Tests the file sched_priv/decay_usage, which is written every hour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
namespace fs = std::filesystem;

constexpr const char* kUsageFile = "sched_priv/output/decay_usage";

class UsageFile : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(host.home() / "sched_priv");
        host.bring_up();
        host.queue(101, "submit");
        host.queue(102, "batch");
        host.vnode(201, "n1", 8);
        const Answer done = host.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy",
                                         {{"algorithm", "origin"},
                                          {"submit_queue", "submit"},
                                          {"batch_queues", "batch"},
                                          {"sort_by_past_usage", "True"}});
        ASSERT_EQ(done.code, 0) << done.text;
        host.tick();
    }
    FakeHost host;
};

TEST_F(UsageFile, SORT_BY_PAST_USAGE_IsWrittenEveryHour) {
    host.job({.handle = 1, .queue = 102, .state = 'R', .ncpus = 4, .walltime = 7200, .vnode = 201});
    host.now += 3599;
    host.tick();
    EXPECT_FALSE(fs::exists(host.home() / kUsageFile));
    EXPECT_EQ(host.next_deadline(), kMonday10 + 3600);
    host.now += 1;
    host.tick();
    EXPECT_EQ(host.read(kUsageFile), "Mon\nstaff:alice 4.000000\n");
    host.job({.handle = 2, .queue = 102, .owner = "bob", .state = 'R', .walltime = 3600, .vnode = 201});
    host.now += 3599;
    host.tick();
    EXPECT_EQ(host.read(kUsageFile), "Mon\nstaff:alice 4.000000\n");
    host.now += 1;
    host.tick();
    EXPECT_EQ(host.read(kUsageFile), "Mon\nstaff:alice 4.000000\nstaff:bob 1.000000\n");
}

TEST_F(UsageFile, SORT_BY_PAST_USAGE_IsWrittenAtTheEndOfTheServer) {
    host.job({.handle = 1, .queue = 102, .state = 'R', .ncpus = 4, .walltime = 7200, .vnode = 201});
    host.stop();
    EXPECT_EQ(host.read(kUsageFile), "Mon\nstaff:alice 4.000000\n");
}

TEST_F(UsageFile, SORT_BY_PAST_USAGE_NoFileWithoutIt) {
    host.set(PBS_OBJ_POLICY, "default_policy", "sort_by_past_usage", "False");
    host.now += 7200;
    host.tick();
    host.stop();
    EXPECT_FALSE(fs::exists(host.home() / kUsageFile));
}

}  // namespace
}  // namespace pbs::plugin_test
