// Starts two servers on one home whose locks keep nobody out, as on some network file systems. The one that
// was started last has the home; the other one must not write there any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/faults/fault_counters.h"

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class TwoServers : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (PBS_SANITIZED != 0) GTEST_SKIP() << "the sanitizers want to be loaded first";
    }
    FaultCounters counters;
    Server::Options options{.program = counters.server({{"PBSPOLICY_NO_LOCKS", "1"}})};
};

// Commands on the machine reach a server by its socket, which is in the home.
fs::path socket_of(const Server& server, const std::string& suffix = {}) {
    return server.home() / ("server_priv/pbs.sock" + suffix);
}

TEST_F(TwoServers, TheLaterOneHasTheHome) {
    Server first(options);
    ASSERT_TRUE(first.start());
    ASSERT_TRUE(first.configure({"create queue workq queue_type=execution, enabled=True, started=True",
                                 "create node n1 resources_available.ncpus=8", "create policy p1",
                                 "set server default_queue=workq, flatuid=True, job_history_enable=True"}));
    fs::rename(socket_of(first), socket_of(first, ".first"));

    Server second(options);
    fs::remove_all(second.home());
    fs::create_directory_symlink(first.home(), second.home());
    ASSERT_TRUE(second.start());
    EXPECT_EQ(second.qmgr("create policy p2").exit, 0);
    const std::string job = second.submit("true\n", {"-h"});

    fs::rename(socket_of(first), socket_of(first, ".second"));
    fs::rename(socket_of(first, ".first"), socket_of(first));
    const std::string user = "in use by process " + std::to_string(second.pid());
    EXPECT_THAT(first.qmgr("create policy p3").err, AllOf(HasSubstr("policy.db"), HasSubstr(user)));
    EXPECT_THAT(first.qmgr("create queue other").err, AllOf(HasSubstr("server.db"), HasSubstr(user)));
    EXPECT_NE(first.command_as(runner(), {"qsub", "-h"}, {.input = "true\n"}).exit, 0);
    ASSERT_TRUE(first.stop());

    fs::rename(socket_of(first, ".second"), socket_of(first));
    EXPECT_EQ(second.qmgr("create queue other").exit, 0);
    second.kill9();
    ASSERT_TRUE(second.start());
    EXPECT_EQ(second.qmgr("list policy p2").exit, 0);
    EXPECT_NE(second.qmgr("list policy p3").exit, 0);
    EXPECT_EQ(second.qmgr("list queue other").exit, 0);
    EXPECT_EQ(second.job(job, "job_state"), "H");
}

}  // namespace
}  // namespace pbs::e2e
