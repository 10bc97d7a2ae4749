// Tests workflows of jobs that depend on each other, as users and workflow programs submit them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;

class DependingJobs : public OriginServer {
  protected:
    void SetUp() override {
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({"set server job_history_enable=True"}));
    }
    std::string after(const std::string& depend, const std::string& script = "exit 0\n",
                      std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"-W", "depend=" + depend});
        return server.submit(script, more);
    }
    std::string note(const std::string& line) const {
        return "echo " + line + " >> " + (server.work() / "notes").string() + "\n";
    }
    std::string notes() const { return pbs::test::file_text(server.work() / "notes"); }
};

// Writes dependencies as two programs do. Snakemake's --immediate-submit submits each job at once with the
// ids of the jobs that it needs. Open OnDemand writes several ids after one type, and several types.
TEST_F(DependingJobs, AWorkflowRunsInItsOrder) {
    const std::string a = server.submit("sleep 1\n" + note("a"));
    const std::string b = server.submit("sleep 1\n" + note("b") + "exit 1\n");
    const std::string both = after("afterok:" + a + ",afternotok:" + b, note("both"));
    const std::string last = after("afterok:" + a + ":" + both, note("last"));
    const std::string never = after("afterok:" + b, note("never"));
    const std::string behind = after("afterany:" + never, note("behind"));
    EXPECT_EQ(server.job(last, "job_state"), "H");
    EXPECT_EQ(server.job(last, "Hold_Types"), "s");
    EXPECT_EQ(server.job(last, "depend"), "afterok:" + a + "@" + a.substr(a.find('.') + 1) + ":" + both +
                                              "@" + a.substr(a.find('.') + 1));
    ASSERT_TRUE(server.wait_job_state(last, "F"));
    EXPECT_EQ(server.job(last, "Exit_status"), "0");
    EXPECT_THAT(notes(), testing::EndsWith("both\nlast\n"));
    ASSERT_TRUE(server.wait_job_state(never, "F"));
    ASSERT_TRUE(server.wait_job_state(behind, "F"));
    EXPECT_THAT(server.log(), HasSubstr(never + ";Job deleted as result of dependency on job " + b));
    EXPECT_THAT(server.log(), HasSubstr(behind + ";Job deleted as result of dependency on job " + never));
}

TEST_F(DependingJobs, SurviveAServerThatIsKilled) {
    const std::string first = server.submit("sleep 2\n" + note("first"));
    std::string last = first;
    for (int i = 0; i < 3; ++i) last = after("afterok:" + last, note(std::to_string(i)));
    const std::string fails = after("afternotok:" + first, note("wrong"));
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(last, "job_state"), "H");
    ASSERT_TRUE(server.wait_job_state(last, "F"));
    EXPECT_EQ(notes(), "first\n0\n1\n2\n");
    ASSERT_TRUE(server.wait_job_state(fails, "F"));
}

TEST_F(DependingJobs, WrongOnesAreRefusedAndNothingIsThere) {
    const std::pair<const char*, int> wrong[] = {{"afterok", 166},
                                                 {"foo:1", 166},
                                                 {"on:0", 166},
                                                 {"afterok:1@elsewhere", of_host(166, 160)},
                                                 {"afterok:1[3]", of_host(156, 166)}};
    for (const auto& [value, exit] : wrong) {
        const Output refused =
            server.command_as(runner(), {"qsub", "-W", std::string("depend=") + value, "--", "/bin/true"});
        EXPECT_EQ(refused.exit, exit) << value << refused;
        EXPECT_THAT(refused.err, HasSubstr(exit == 160 ? "unknown host" : "depend")) << value;
    }
    const std::string id = server.submit("sleep 60\n", {"-h"});
    const Output self = server.command_as(runner(), {"qalter", "-W", "depend=afterok:" + id, id});
    EXPECT_EQ(self.exit, 156) << self;
    EXPECT_EQ(server.job(id, "depend"), "(none)");
    const std::string b = after("afterok:" + id);
    ASSERT_EQ(server.command_as(runner(), {"qalter", "-W", "depend=afterany:" + b, id}).exit, 0) << "a cycle";
    ASSERT_EQ(server.command_as(runner(), {"qdel", id}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(b, "F"));
}

TEST_F(DependingJobs, OneOfASetRuns) {
    const std::string a = server.submit("sleep 1\n", {"-l", "ncpus=8"});
    const std::string b = after("runone:" + a);
    const std::string c = after("runone:" + a);
    ASSERT_TRUE(server.wait_job_state(a, "F"));
    ASSERT_TRUE(server.wait_job_state(b, "F"));
    ASSERT_TRUE(server.wait_job_state(c, "F"));
    int ran = 0;
    for (const std::string& id : {a, b, c}) ran += server.job(id, "stime") == "(none)" ? 0 : 1;
    EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace pbs::e2e
