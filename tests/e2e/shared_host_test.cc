// Tests a server whose vnodes are all on one host. Algorithm standard may then spread a chunk over several
// vnodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class SharedHost : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(
            server.configure({"create node v0 resources_available.ncpus=2, resources_available.mem=1gb",
                              "create node v1 resources_available.ncpus=2, resources_available.mem=1gb",
                              "create node v2 resources_available.ncpus=2, resources_available.mem=1gb",
                              "create queue workq queue_type=execution, enabled=True, started=True",
                              "set server default_queue=workq"}));
    }
    std::string file(const std::string& name) const {
        const auto path = server.work() / name;
        EXPECT_TRUE(wait_for([&] { return std::filesystem::exists(path); })) << name;
        return pbs::test::file_text(path);
    }
    std::string assigned(const std::string& vnode) const {
        return server.attribute("node " + vnode, "resources_assigned.ncpus");
    }

    Server server;
};

TEST_F(SharedHost, AJobLargerThanAnyVnodeRunsOnSeveral) {
    const std::string id = server.submit("echo $(wc -l < $PBS_NODEFILE) $NCPUS\nsleep 60\n",
                                         {"-N", "large", "-l", "select=2:ncpus=3:mpiprocs=2"});
    ASSERT_TRUE(server.wait_job_state(id, "R")) << server.job(id, "comment");
    const std::string where = "(v0:ncpus=2+v1:ncpus=1)+(v1:ncpus=1+v2:ncpus=2)";
    EXPECT_EQ(server.job(id, "exec_vnode"), where);
    // OpenPBS's exec_host shows 0 CPUs for a chunk that is spread.
    EXPECT_THAT(server.job(id, "exec_host"),
                MatchesRegex(of_host("([^+/]+)/0\\*3\\+([^+/]+)/1\\*3", "v0/0\\*0\\+v0/1\\*0")));
    for (const char* vnode : {"v0", "v1", "v2"}) EXPECT_EQ(assigned(vnode), "2") << vnode;

    const std::string waiting = server.submit("sleep 60\n", {"-l", "select=1:ncpus=5"});
    ASSERT_TRUE(wait_for([&] { return server.job(waiting, "comment") != "(none)"; }));
    EXPECT_EQ(server.job(waiting, "comment"), "Not Running: Not enough free nodes available");
    EXPECT_THAT(server.command({"pbs_explain", waiting}).out, HasSubstr("Not enough free nodes available"));
    const std::string record = (server.home() / "cycle.record").string();
    ASSERT_EQ(server.command({"pbs_replay", "--record", "-o", record}).exit, 0);
    const Output replayed = run({"pbs_replay", record});
    EXPECT_EQ(replayed.exit, 0) << replayed;

    // After a restart, the server still knows which vnodes' parts make up each chunk.
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(id, "exec_vnode"), where);
    EXPECT_TRUE(wait_for([&] { return !on_openpbs() || assigned("v1") == "2"; }));
    EXPECT_EQ(assigned("v1"), "2");
    ASSERT_EQ(server.command({"qdel", id}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(waiting, "R"));
    EXPECT_EQ(server.job(waiting, "exec_vnode"), "(v0:ncpus=2+v1:ncpus=2+v2:ncpus=1)");
    EXPECT_EQ(file("large.o" + id.substr(0, id.find('.'))), "4 3\n");
    EXPECT_THAT(server.accounting(), HasSubstr("exec_vnode=" + where));
}

TEST_F(SharedHost, AJobMayHaveItsVnodesOrItsHostForItself) {
    const auto waits = [&](const std::string& id) {
        return wait_for([&] { return server.job(id, "comment") != "(none)"; }) &&
               server.job(id, "job_state") == "Q";
    };
    const std::string vnode = server.submit("sleep 60\n", {"-l", "select=1:ncpus=1", "-l", "place=excl"});
    ASSERT_TRUE(server.wait_job_state(vnode, "R"));
    EXPECT_EQ(server.attribute("node v0", "state"), "job-exclusive");
    EXPECT_EQ(server.attribute("node v1", "state"), "free");
    const std::string host = server.submit("sleep 60\n", {"-l", "select=1:ncpus=1", "-l", "place=exclhost"});
    EXPECT_TRUE(waits(host)) << "there is a job on its host";
    ASSERT_EQ(server.command({"qdel", vnode}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(host, "R")) << server.job(host, "comment");
    const std::string other = server.submit("true\n", {"-l", "select=1:ncpus=1"});
    EXPECT_TRUE(waits(other));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(waits(other));
    ASSERT_EQ(server.command({"qdel", host}).exit, 0);
    EXPECT_TRUE(wait_for(
        [&] { return server.job(other, "comment") == "(none)" || server.job(other, "job_state") != "Q"; }));
}

TEST_F(SharedHost, ARecordedCycleThatDividesGivesTheSamePlaces) {
    ASSERT_TRUE(server.configure({"set sched default scheduling = False"}));
    const std::string id = server.submit("sleep 60\n", {"-l", "ncpus=5,mem=2gb"});
    const std::string record = (server.home() / "cycle.record").string();
    ASSERT_EQ(server.command({"pbs_replay", "--record", "-o", record}).exit, 0);
    ASSERT_TRUE(server.configure({"set sched default scheduling = True"}));
    ASSERT_TRUE(server.wait_job_state(id, "R"));
    EXPECT_EQ(server.job(id, "exec_vnode"), "(v0:mem=1048576kb:ncpus=2+v1:mem=1048576kb:ncpus=2+v2:ncpus=1)");
    ASSERT_EQ(server.command({"pbs_replay", "--record", "-o", record}).exit, 0);
    EXPECT_EQ(run({"pbs_replay", record}).exit, 0);
}

TEST_F(SharedHost, VnodesOfOtherHostsHaveNoPiece) {
    NEEDS(own_attributes);
    ASSERT_TRUE(server.configure({"set node v1 resources_available.host = elsewhere"}));
    const std::string none = server.submit("true\n", {"-l", "select=1:ncpus=5"});
    ASSERT_TRUE(wait_for([&] { return server.job(none, "comment") != "(none)"; }));
    EXPECT_THAT(server.job(none, "comment"),
                HasSubstr("Can Never Run: Insufficient amount of resource: ncpus (R: 5 A: 4 T: 4)"));
    const std::string id = server.submit("sleep 60\n", {"-l", "select=1:ncpus=4"});
    ASSERT_TRUE(server.wait_job_state(id, "R"));
    EXPECT_EQ(server.job(id, "exec_vnode"), "(v0:ncpus=2+v2:ncpus=2)");
}

}  // namespace
}  // namespace pbs::e2e
