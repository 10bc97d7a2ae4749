// Tests jobs between a bundled server and a stock OpenPBS server on the same machine. Each server pulls jobs
// from the other, and jobs are moved in both directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StockPeer : public OpenpbsTest {
  protected:
    void SetUp() override {
        OpenpbsTest::SetUp();
        if (IsSkipped()) return;
        site.emplace();
        // OpenPBS's commands look up the host that a job's id names. It is `ours`, the bundled server.
        site->ok("sed -i 's/ box / box ours /' /etc/hosts");
        site->start();
        ASSERT_TRUE(site->wait_for_node());
        site->ok(
            "$stock/qmgr -c 'set server scheduling=False, flatuid=True, job_history_enable=True'; "
            "$stock/qmgr -c 'set server managers += root@*'");
        site->ok("$ours/pbs_server --home /var/tmp/ours --name ours -p 15551 --bind 0.0.0.0 --daemon");
        ours("qmgr -c 'create queue work queue_type=execution, enabled=True, started=True'");
        ours("qmgr -c 'set server default_queue=work, flatuid=True, job_history_enable=True'");
        ours("qmgr -c 'create node n1 resources_available.ncpus=4'");
    }
    void TearDown() override {
        if (site) (void)site->sh("kill $(cat /var/tmp/ours/server_priv/server.lock)");
    }
    // Runs a command of this project at the bundled server.
    Output try_ours(const std::string& command, const std::string& user = "root") const {
        return site->sh("export PBS_HOME=/var/tmp/ours; $ours/" + command, user);
    }
    std::string ours(const std::string& command, const std::string& user = "root") const {
        const Output output = try_ours(command, user);
        EXPECT_EQ(output.exit, 0) << output;
        return output.out;
    }
    // Waits until the text that `shown` returns contains `text`.
    ::testing::AssertionResult shows(const std::function<std::string()>& shown,
                                     const std::string& text) const {
        std::string last;
        if (wait_for([&] { return (last = shown()).find(text) != std::string::npos; },
                     std::chrono::seconds(60)))
            return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure()
               << last << ours("qstat") << site->sh("tail -n 40 /var/tmp/ours/server_logs/*").out
               << site->log();
    }

    std::optional<Site> site;
};

TEST_F(StockPeer, AJobIsPulledFromIt) {
    site->ok(
        "echo 'id -un > /tmp/ran' | $stock/qsub -l select=1:ncpus=1 -l walltime=60 -o /dev/null -e /dev/null",
        "una");
    ours("qmgr -c 'set policy default_policy peer_queue=\"work workq@box\"'");
    EXPECT_TRUE(shows([&] { return try_ours("qstat -xf 0.box").out; }, "job_state = F"));
    EXPECT_EQ(site->ok("cat /tmp/ran"), "una\n");
    EXPECT_THAT(site->ok("$stock/qstat -x 0"), HasSubstr(" M "));
}

TEST_F(StockPeer, AJobIsMovedToItAndBack) {
    ours("qmgr -c 'set server scheduling=False'");
    site->ok(
        "export PBS_HOME=/var/tmp/ours; echo 'id -un >> /tmp/ran' | $ours/qsub -l ncpus=1 -o /dev/null -e "
        "/dev/null",
        "una");
    EXPECT_THAT(try_ours("qmove workq@box:15001 0", "una").err, HasSubstr("operators and managers"));
    ours("qmove workq@box:15001 0");
    EXPECT_THAT(ours("qstat -x 0"), HasSubstr(" M "));
    EXPECT_THAT(site->ok("$stock/qstat -f 0.ours"), HasSubstr("Job_Owner = una@box"));
    site->ok("$stock/qmove work@box:15551 0.ours");
    EXPECT_THAT(ours("qstat 0"), HasSubstr(" Q "));
    ours("qmove workq@box:15001 0");
    site->ok("$stock/qmgr -c 'set server scheduling=True'");
    EXPECT_TRUE(shows([&] { return site->sh("$stock/qstat -xf 0.ours").out; }, "job_state = F"));
    EXPECT_EQ(site->ok("cat /tmp/ran"), "una\n");
}

TEST_F(StockPeer, ItsSchedulerPullsAJobOfOurs) {
    ours("qmgr -c 'set server scheduling=False'");
    site->ok(
        "export PBS_HOME=/var/tmp/ours; echo 'id -un >> /tmp/ran' | $ours/qsub -l ncpus=1 -o /dev/null -e "
        "/dev/null",
        "una");
    site->ok(
        "echo 'peer_queue: \"workq work@box:15551\"' >> /var/spool/pbs/sched_priv/sched_config; "
        "kill -HUP $(cat /var/spool/pbs/sched_priv/sched.lock); "
        "$stock/qmgr -c 'set server scheduling=True'");
    EXPECT_TRUE(shows([&] { return site->sh("$stock/qstat -xf 0.ours").out; }, "job_state = F"));
    EXPECT_EQ(site->ok("cat /tmp/ran"), "una\n");
    EXPECT_THAT(ours("qstat -x 0"), HasSubstr(" M "));
}

TEST_F(StockPeer, WhoIsNobodyHereHasNoJobsPulled) {
    ours("qmgr -c 'set server flatuid=False'");
    site->ok("echo true | $stock/qsub -o /dev/null -e /dev/null", "una");
    ours("qmgr -c 'set policy default_policy peer_queue=\"work workq@box\"'");
    EXPECT_TRUE(shows([&] { return try_ours("pbs_diag --peers").out; }, "work from workq"));
    EXPECT_TRUE(
        wait_for([&] { return try_ours("pbs_diag --peers").out.find("not yet") == std::string::npos; }));
    EXPECT_THAT(site->ok("$stock/qstat 0"), HasSubstr(" Q "));
    EXPECT_THAT(site->sh("$stock/qmove work@box:15551 0").err, Not(testing::IsEmpty()));
    EXPECT_THAT(site->ok("$stock/qstat 0"), HasSubstr(" Q "));
}

}  // namespace
}  // namespace pbs::e2e
