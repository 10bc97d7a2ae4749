// Tests pbs_replay: records a cycle of a running server, and runs the recorded cycle again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Replay : public OriginServer {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({"set node n1 resources_available.ncpus = 2"}));
        file = (server.home() / "bug.record").string();
    }
    std::string text() const { return pbs::test::file_text(file); }
    std::string file;
};

TEST_F(Replay, ARecordOfTheServerGivesTheSameDecisions) {
    const std::string running = server.submit("sleep 60\n", {"-l", "ncpus=2,walltime=00:10:00"});
    ASSERT_TRUE(server.wait_job_state(running, "R"));
    const std::string waiting = server.submit("true\n", {"-l", "ncpus=1,walltime=00:10:00"});
    const std::string held = server.submit("true\n", {"-h"});
    ASSERT_TRUE(wait_for([&] { return server.job(waiting, "comment") != "(none)"; }));
    const Output recorded = server.command({"pbs_replay", "--record", "-o", file});
    ASSERT_EQ(recorded.exit, 0) << recorded;
    struct stat info {};
    ASSERT_EQ(stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600U);
    EXPECT_THAT(text(), StartsWith("{\"pbspolicy_record\":1,\"time_zone\":"));
    for (const std::string& id : {running, waiting, held})
        EXPECT_THAT(text(), HasSubstr("\"id\":\"" + id + "\""));

    const Output same = run({"pbs_replay", file});
    EXPECT_EQ(same.exit, 0) << same;
    EXPECT_THAT(same.out, StartsWith("The same decisions: "));
    EXPECT_THAT(same.out, HasSubstr(" 3 jobs, sched default at "));

    // In the record, change the running job into a held one. Then the replayed cycle starts the waiting job.
    std::string changed = text();
    const auto state = changed.find("\"state\":\"R\"");
    ASSERT_NE(state, std::string::npos);
    changed.replace(state, 11, "\"state\":\"H\"");
    const Output other = run({"pbs_replay", "-"}, {changed});
    EXPECT_EQ(other.exit, 1) << other;
    EXPECT_THAT(other.out, HasSubstr("job " + waiting + ": now      {\"run\":"));
    EXPECT_THAT(other.out, HasSubstr("\n1 difference: "));
}

TEST_F(Replay, RecordsAreForOperatorsAndManagers) {
    const Output unknown = server.command({"pbs_replay", "--record", "nobody"});
    EXPECT_EQ(unknown.exit, 15213 & 0xff) << unknown;
    if (!other()) GTEST_SKIP() << "only root can become another user; this is user " << runner().name;
    const Output refused = server.command_as(*other(), {"pbs_replay", "--record"});
    EXPECT_EQ(refused.exit, 159) << refused;
    EXPECT_EQ(refused.out, "");
    ASSERT_TRUE(server.configure({"set server operators = " + other()->name + "@*"}));
    const Output allowed = server.command_as(*other(), {"pbs_replay", "--record"});
    EXPECT_EQ(allowed.exit, 0) << allowed.err;
    EXPECT_THAT(allowed.out, HasSubstr("{\"end\":{"));
}

// The cycles of a running server also write the schedule log.
TEST_F(Replay, TheScheduleLogHasTheLifeOfAJob) {
    ASSERT_TRUE(server.configure({"set policy default_policy schedule_log = schedule"}));
    const std::string id = server.submit("sleep 1\n", {"-l", "ncpus=2,walltime=00:10:00"});
    ASSERT_TRUE(wait_for(
        [&] { return server.read("sched_priv/output/schedule").find(";ENDING;") != std::string::npos; },
        std::chrono::seconds(15)));
    const std::string log = server.read("sched_priv/output/schedule");
    EXPECT_THAT(log, HasSubstr(";" + id + ";1;STARTING;"));
    EXPECT_THAT(log, HasSubstr(";Q;batch;jobs;1\n"));
    EXPECT_THAT(log, HasSubstr(";H;n1;ncpus;2\n"));
    EXPECT_LT(log.find(";STARTING;"), log.find(";" + id + ";1;ENDING;"));
    struct stat info {};
    ASSERT_EQ(stat((server.home() / "sched_priv/output/schedule").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST_F(Replay, WhatIsNoRecord) {
    const Output none = run({"pbs_replay", file});
    EXPECT_EQ(none.exit, 2);
    EXPECT_EQ(none.err, "pbs_replay: can't read " + file + ": No such file or directory\n");
    const Output bad =
        run({"pbs_replay", "-"}, {"{\"pbspolicy_record\":1,\"time_zone\":\"UTC\"}\n{\"job\":{\"id\":3}}\n"});
    EXPECT_EQ(bad.exit, 2);
    EXPECT_EQ(bad.err, "pbs_replay: -:2: job: id: expected a string\n");
    EXPECT_EQ(run({"pbs_replay"}).exit, 2);
    EXPECT_THAT(run({"pbs_replay", "--help"}).out, HasSubstr("--record"));
}

TEST_F(Replay, TheNextCycleIsRecordedAndRunsAllTheSame) {
    ASSERT_TRUE(server.configure({"set sched default scheduling = False"}));
    const std::string id = server.submit("true\n", {"-l", "ncpus=1,walltime=00:10:00"});
    Output recorded;
    std::thread waits([&] { recorded = server.command({"pbs_replay", "--record", "--next", "-o", file}); });
    // Cause cycles until the record begins, because only a cycle that starts after the request's arrival is
    // recorded.
    for (int i = 0; i < 100 && text().empty(); ++i) {
        EXPECT_TRUE(server.configure({"set sched default scheduling = True"}));
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    waits.join();
    EXPECT_EQ(recorded.exit, 0) << recorded;
    EXPECT_TRUE(server.wait_job_state(id, "F")) << "the cycle did what it decided";
    EXPECT_THAT(text(), HasSubstr("{\"end\":{"));
    EXPECT_EQ(run({"pbs_replay", file}).exit, 0);
}

TEST_F(Replay, TheNextCycleIsForOperatorsAndManagers) {
    EXPECT_EQ(run({"pbs_replay", "--next"}).exit, 2) << "without --record";
    if (!other()) GTEST_SKIP() << "only root can become another user; this is user " << runner().name;
    const Output refused = server.command_as(*other(), {"pbs_replay", "--record", "--next"});
    EXPECT_EQ(refused.exit, 159) << refused;
}

}  // namespace
}  // namespace pbs::e2e
