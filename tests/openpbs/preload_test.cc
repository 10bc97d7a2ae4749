// Tests the effects of the preloaded object on processes: on their environment, and on the start of
// pbs_sched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kServer = PBS_BUILD_DIR "/tests/openpbs/pbs_server.bin";
constexpr const char* kPreload = PBS_BUILD_DIR "/bin/pbs_policy_preload.so";

Output run_with(const std::string& preload, const std::string& program, const std::string& schedules = {}) {
    RunOptions options;
    options.environment = {{"LD_PRELOAD", preload},
                           {"PBS_POLICY_ATTACHMENT", "beside"},
                           {"PBS_HOME", "/nowhere"},
                           {"PBS_POLICY_SCHEDULER", schedules}};
    return run({program}, options);
}

TEST(Preload, LeavesTheServersEnvironmentAndComesBackWhenItExecutesItself) {
    const Output output = run_with(kPreload, kServer);
    EXPECT_EQ(output.exit, 0) << output;
    const std::string preload = kPreload;
    EXPECT_EQ(output.out, "first: started with LD_PRELOAD=" + preload +
                              "\nfirst: started with PBS_POLICY_ATTACHMENT=beside\nfirst: has LD_PRELOAD=\n"
                              "again: started with LD_PRELOAD=" +
                              preload +
                              "\nagain: started with PBS_POLICY_ATTACHMENT=beside\nagain: has LD_PRELOAD=\n"
                              "child: has LD_PRELOAD=\nchild: /sbin/pbs_sched\n");
}

TEST(Preload, StartsNoPbsSchedWhereThePluginSchedules) {
    const Output output = run_with(kPreload, kServer, "1");
    EXPECT_EQ(output.exit, 0) << output;
    EXPECT_THAT(output.out, HasSubstr("child: has LD_PRELOAD=\n"));
    EXPECT_THAT(output.out, Not(HasSubstr("pbs_sched")));
}

TEST(Preload, LeavesOtherObjectsThere) {
    const std::string other = PBS_BUILD_DIR "/bin/pbs_policy.so";
    const Output output = run_with(std::string(kPreload) + ":" + other, kServer);
    EXPECT_THAT(output.out, HasSubstr("first: has LD_PRELOAD=" + other + "\n"));
    EXPECT_THAT(output.out, HasSubstr("again: has LD_PRELOAD=" + other + "\n"));
}

TEST(Preload, DoesNothingInOtherProcesses) {
    if (PBS_SANITIZED != 0)
        GTEST_SKIP() << "an object with sanitizers can't be loaded by programs without them";
    const Output output = run_with(kPreload, "/usr/bin/env");
    EXPECT_EQ(output.exit, 0);
    EXPECT_THAT(output.out, HasSubstr(std::string("LD_PRELOAD=") + kPreload + "\n"));
    EXPECT_EQ(output.err, "");
}

}  // namespace
}  // namespace pbs::e2e
