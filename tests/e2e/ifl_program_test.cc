// Builds the example program of the C library as a site would, and runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;

class IflProgram : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({"create policy p1 comment='from qmgr'",
                                      "create time_window t1 rrule='FREQ=DAILY', start_time=0600",
                                      "create fs_group f1 decay_time=18:00:00"}));
    }
    Server server;
};

TEST_F(IflProgram, StatsEachKind) {
    const Output shown = server.command({"stat_objects"});
    ASSERT_EQ(shown.exit, 0) << shown;
    EXPECT_THAT(shown.out, HasSubstr("default_policy"));
    EXPECT_THAT(shown.out, HasSubstr("comment = from qmgr"));
    EXPECT_THAT(shown.out, HasSubstr("rrule = FREQ=DAILY"));
    EXPECT_THAT(shown.out, HasSubstr("start_time = 06:00:00"));
    EXPECT_THAT(shown.out, HasSubstr("decay_time = 18:00:00"));
    EXPECT_THAT(shown.out, HasSubstr("15212"));
}

TEST_F(IflProgram, IsRunByAnybody) {
    if (!other())
        GTEST_SKIP() << "only root can run a program as somebody else; this is user " << runner().name;
    EXPECT_EQ(server.command_as(*other(), {"stat_objects"}).exit, 0);
}

TEST_F(IflProgram, WithoutAServerItSaysSo) {
    ASSERT_TRUE(server.stop());
    const Output failed = server.command({"stat_objects"});
    EXPECT_NE(failed.exit, 0);
    EXPECT_FALSE(failed.err.empty());
}

}  // namespace
}  // namespace pbs::e2e
