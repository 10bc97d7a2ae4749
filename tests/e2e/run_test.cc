// Tests qrun: an operator starts a job, or gets a message that says why the job can't run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/copy_jobs.h"
#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Qrun : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure(
            {"set server scheduling=False", "create node v0 resources_available.ncpus=2",
             "create node v1 resources_available.ncpus=2", "create node v2 resources_available.ncpus=2",
             "create queue workq queue_type=execution, enabled=True, started=True",
             "create queue stopped queue_type=execution, enabled=True", "set server default_queue=workq"}));
    }
    std::string submit(const std::string& select, std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"-l", "select=" + select});
        return server.submit("sleep 60\n", more);
    }
    Output qrun(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "qrun");
        return server.command(arguments);
    }
    // Runs a job by qrun, and checks that it gets this exec_vnode.
    void starts(const std::string& id, const std::string& exec_vnode) const {
        const Output done = qrun({id});
        EXPECT_EQ(done.exit, 0) << done;
        EXPECT_TRUE(server.wait_job_state(id, "R"));
        EXPECT_EQ(server.job(id, "exec_vnode"), exec_vnode);
    }

    Server server;
};

TEST_F(Qrun, PlacesTheJobAsTheSchedulerWould) {
    starts(submit("1:ncpus=3"), "(v0:ncpus=2+v1:ncpus=1)");
    starts(submit("1:ncpus=1:vnode=v2", {"-l", "place=excl"}), "(v2:ncpus=1)");
    const std::string id = submit("2:ncpus=1");
    const Output refused = qrun({id});
    EXPECT_EQ(refused.exit, 2);
    EXPECT_THAT(refused.err, StartsWith("qrun: "));
    EXPECT_THAT(refused.err, HasSubstr(id));
    EXPECT_EQ(server.job(id, "job_state"), "Q");
    EXPECT_THAT(server.job(id, "comment"), StartsWith("Not Running: "));
    EXPECT_THAT(refused.err, HasSubstr(server.job(id, "comment").substr(13)));
    const std::string large = submit("7:ncpus=1");
    EXPECT_THAT(qrun({large}).err,
                HasSubstr("Insufficient amount of resource: ncpus (R: 7 A: 6 T: 6) " + large));
    EXPECT_THAT(server.job(large, "comment"), StartsWith("Can Never Run: "));
}

TEST_F(Qrun, StartsWhatNoCycleWould) {
    ASSERT_TRUE(server.configure({"set server max_running=0", "set server scheduling=True"}));
    starts(submit("1:ncpus=1", {"-h"}), "(v0:ncpus=1)");
    starts(submit("1:ncpus=2", {"-q", "stopped"}), "(v1:ncpus=2)");
    const std::string id = submit("1:ncpus=1");
    ASSERT_TRUE(wait_for([&] { return server.job(id, "comment") != "(none)"; }));
    starts(id, "(v0:ncpus=1)");
    EXPECT_EQ(server.job(id, "queue"), "workq");
}

TEST_F(Qrun, IsForOperators) {
    const std::string id = submit("1:ncpus=1");
    const Output refused = server.command_as(runner(), {"qrun", id});
    EXPECT_EQ(refused.exit, 2);
    EXPECT_THAT(refused.err, HasSubstr("Unauthorized Request"));
    EXPECT_EQ(server.job(id, "job_state"), "Q");
    ASSERT_TRUE(server.configure({"set server operators=" + runner().name + "@*"}));
    const Output done = server.command_as(runner(), {"qrun", id});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_TRUE(server.wait_job_state(id, "R"));
}

TEST_F(Qrun, WithoutWaitingTheReasonIsInTheComment) {
    const std::string id = submit("7:ncpus=1");
    EXPECT_EQ(qrun({"-a", id}).exit, 0);
    EXPECT_TRUE(wait_for([&] { return server.job(id, "comment").starts_with("Can Never Run: "); }));
    const std::string small = submit("1:ncpus=1");
    EXPECT_EQ(qrun({"-a", small, id}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(small, "R"));
}

// Long cycles run in a thread, one after the other. qrun is carried out between two cycles, also with -a,
// which doesn't wait for the job's start.
TEST_F(Qrun, WaitsForALongCycleAndNoMore) {
    constexpr int kJobs = 21'000;
    ASSERT_TRUE(server.configure({"set server max_running=0"}));
    for (int i = 0; i < 30; ++i) ASSERT_NE(submit("1:ncpus=1"), "");
    const std::string first = submit("1:ncpus=2");
    const std::string second = submit("1:ncpus=2");
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(copy_jobs(server, kJobs / 32));
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"set server log_events=511", "set server scheduling=True"}));
    EXPECT_EQ(qrun({"-a", first}).exit, 0);
    const Output done = qrun({second});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_TRUE(server.wait_job_state(first, "R"));
    EXPECT_TRUE(server.wait_job_state(second, "R"));
}

}  // namespace
}  // namespace pbs::e2e
