// Tests pbs_explain and estimated starts on a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The server's clock starts on a Monday at 10:00, which is in prime time (the window `office`).
class Explain : public OriginServer {
  protected:
    void SetUp() override {
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({
            "create time_window office rrule='FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', start_time=0800, "
            "end_time=1700, type=prime",
            "set policy default_policy enforce_prime_time=True, prime_time_wallt_limit=02:00:00",
            "set node n1 resources_available.ncpus = 2",
        }));
    }
};

TEST_F(Explain, AJobThatWaitsForTheEndOfPrimeTime) {
    NEEDS(injected_clock);
    const std::string id = server.submit("true\n", {"-l", "ncpus=1,walltime=03:00:00"});
    ASSERT_TRUE(wait_for([&] { return server.job(id, "comment") != "(none)"; }));
    const Output text = server.command({"pbs_explain", id});
    EXPECT_EQ(text.exit, 0) << text.err;
    EXPECT_THAT(text.out, StartsWith("Job " + id + ": it waits: " + server.job(id, "comment") + "\n"));
    EXPECT_THAT(text.out, HasSubstr("Order: job 1 of 1, 1 of 1 in class normal\n"));
    EXPECT_THAT(text.out, AllOf(HasSubstr("Queue batch: earliest start "),
                                HasSubstr(" 15:00:00, when no more of prime time is left than its limit\n")))
        << "two hours before its end";
    EXPECT_THAT(text.out, HasSubstr("Exceeds primetime walltime limit (02:00:00)  <- decides\n"));
    EXPECT_THAT(text.out, HasSubstr("  pass  hosts"));
    const Output json = server.command({"pbs_explain", "--json", id});
    EXPECT_EQ(json.exit, 0) << json.err;
    EXPECT_THAT(json.out, AllOf(HasSubstr("\"outcome\": \"waits\""), HasSubstr("\"decides\": true"),
                                HasSubstr("\"when\": \"no more of prime time is left than its limit\"")));
}

TEST_F(Explain, JobsThatRunAndJobsThatAreHeld) {
    const std::string running = server.submit("sleep 60\n", {"-l", "ncpus=1,walltime=00:10:00"});
    ASSERT_TRUE(server.wait_job_state(running, "R"));
    const std::string held = server.submit("true\n", {"-h"});
    const Output both = server.command({"pbs_explain", running, held});
    EXPECT_EQ(both.exit, 0) << both.err;
    EXPECT_EQ(server.command({"pbs_explain", running.substr(0, running.find('.'))}).exit, 0)
        << "by its number";
    EXPECT_THAT(both.out, HasSubstr("Job " + running + ": no cycle looks at it now: it runs, since "));
    EXPECT_THAT(both.out, HasSubstr("Job " + held + ": no cycle looks at it now: it is held\n"));
}

TEST_F(Explain, ToThoseWhoMaySeeTheJob) {
    if (!other()) GTEST_SKIP() << "only root can become another user; this is user " << runner().name;
    const std::string id = server.submit("true\n", {"-h"});
    ASSERT_TRUE(server.configure({"set server query_other_jobs = False"}));
    const auto may_see = [&](const User& user) {
        return server.command_as(user, {"pbs_explain", id}).exit == 0;
    };
    // With OpenPBS, the plugin notices a change of query_other_jobs only after a while.
    if (on_openpbs()) EXPECT_TRUE(wait_for([&] { return may_see(runner()) && !may_see(*other()); }));
    const Output refused = server.command_as(*other(), {"pbs_explain", id});
    EXPECT_EQ(refused.exit, 159) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr(id));
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(server.command_as(runner(), {"pbs_explain", id}).exit, 0) << "its owner";
    ASSERT_TRUE(server.configure({"set server query_other_jobs = True"}));
    if (on_openpbs()) EXPECT_TRUE(wait_for([&] { return may_see(*other()); }));
    EXPECT_EQ(server.command_as(*other(), {"pbs_explain", id}).exit, 0);
}

TEST_F(Explain, JobsThatAreNotThere) {
    const Output none = server.command({"pbs_explain", "99"});
    EXPECT_EQ(none.exit, 153);
    EXPECT_THAT(none.err, HasSubstr("99"));
    const Output usage = server.command({"pbs_explain"});
    EXPECT_EQ(usage.exit, 2);
    EXPECT_THAT(usage.err, HasSubstr("JOB"));
}

// Estimated starts that qstat shows. The server's clock starts on Monday, 10:00.
class Estimated : public OriginServer {
  protected:
    void SetUp() override {
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({"set node n1 resources_available.ncpus = 2"}));
        running = server.submit("sleep 60\n", {"-l", "ncpus=2,walltime=01:00:00"});
        ASSERT_TRUE(server.wait_job_state(running, "R"));
        waiting = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
        ASSERT_TRUE(wait_for([&] { return start() != "(none)"; }));
    }
    std::string start() const { return server.job(waiting, "estimated.start_time"); }

    std::string running;
    std::string waiting;
};

TEST_F(Estimated, TheJobThatAQueueIsDrainedForHasAnEstimatedStart) {
    NEEDS(injected_clock);
    EXPECT_THAT(start(), StartsWith("Mon Nov 23 11:00:"));
    EXPECT_EQ(server.job(waiting, "estimated.exec_vnode"), server.job(running, "exec_vnode"));
    const std::string second = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    ASSERT_TRUE(wait_for([&] { return server.job(second, "comment") != "(none)"; }));
    EXPECT_EQ(server.job(second, "estimated.start_time"), "(none)") << "nothing is kept for it";
    EXPECT_EQ(server.job(running, "estimated.start_time"), "(none)");
    const Output json = server.command({"qstat", "-f", "-F", "json", waiting});
    EXPECT_THAT(json.out, HasSubstr("\"start_time\": \"Mon Nov 23 11:00:"));
    const Output explained = server.command({"pbs_explain", waiting});
    EXPECT_THAT(explained.out, HasSubstr("earliest start 2026-11-23 11:00:"));
    EXPECT_THAT(server.command({"qselect", "-tt.gt.202611231030"}).out, HasSubstr(waiting));
    EXPECT_EQ(server.command({"qselect", "-tt.gt.202611231130"}).out, "");
}

TEST_F(Estimated, AsManyJobsAsEstimateDepthSaysHaveEstimatedStarts) {
    NEEDS(injected_clock);
    const std::string second = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    const std::string third = server.submit("true\n", {"-l", "ncpus=1,walltime=00:10:00"});
    ASSERT_TRUE(server.configure({"set policy default_policy estimate_depth=1"}));
    ASSERT_TRUE(wait_for([&] { return server.job(second, "estimated.start_time") != "(none)"; }));
    EXPECT_THAT(server.job(second, "estimated.start_time"), StartsWith("Mon Nov 23 11:1"));
    EXPECT_EQ(server.job(third, "estimated.start_time"), "(none)");
    EXPECT_THAT(server.command({"pbs_explain", second}).out,
                HasSubstr("\n  it is expected to start 2026-11-23 11:1"));
    ASSERT_TRUE(server.configure({"set policy default_policy estimate_depth=0"}));
    EXPECT_TRUE(wait_for([&] { return server.job(second, "estimated.start_time") == "(none)"; }));
    EXPECT_THAT(start(), StartsWith("Mon Nov 23 11:00:")) << "something is kept for this one";
}

// qstat -T shows estimated starts relative to the machine's clock. So the server uses the machine's clock
// here.
TEST(EstimatedNow, QstatShowsTheEstimatedStartOfATopJob) {
    Server::Options options;
    options.now = std::time(nullptr);
    Server server(options);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create node n1 resources_available.ncpus=2",
                                  "create queue workq queue_type=execution, enabled=True, started=True",
                                  "set server default_queue=workq",
                                  "set policy default_policy strict_ordering=True, backfill_depth=1"}));
    const std::string running = server.submit("sleep 60\n", {"-l", "ncpus=2,walltime=01:00:00"});
    ASSERT_TRUE(server.wait_job_state(running, "R"));
    const std::string top = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    const std::string next = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    ASSERT_TRUE(wait_for([&] { return server.job(top, "estimated.start_time") != "(none)"; }));
    const std::string shown = server.command({"qstat", "-T"}).out;
    EXPECT_THAT(shown,
                ContainsRegex("\n" + top + " [^\n]* Q ([0-2][0-9]:[0-5][0-9]|[A-Z][a-z] [0-2][0-9])\n"));
    EXPECT_THAT(shown, ContainsRegex("\n" + next + " [^\n]* Q    --\n"));
    EXPECT_THAT(shown, ContainsRegex("\n" + running + " [^\n]* R    --\n"));
    EXPECT_LT(shown.find("\n" + top), shown.find("\n" + next));
}

TEST_F(Estimated, IsGoneWhenTheJobIsHeldAndComesBack) {
    ASSERT_EQ(server.command({"qhold", waiting}).exit, 0);
    // A held job keeps its earlier estimate on OpenPBS, and loses the estimate on the bundled server.
    EXPECT_EQ(start() == "(none)", !on_openpbs());
    ASSERT_EQ(server.command({"qrls", waiting}).exit, 0);
    EXPECT_TRUE(wait_for([&] { return start() != "(none)"; }));
}

TEST_F(Estimated, IsToldAgainAfterARestart) {
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(wait_for([&] { return start() != "(none)"; }));
}

TEST_F(Estimated, IsNotForUsersToSet) {
    const std::string before = start();
    const Output set = server.command_as(runner(), {"qalter", "-W", "estimated=5", waiting});
    EXPECT_NE(set.exit, 0);
    const Output made = server.command_as(runner(), {"qsub", "-W", "estimated=5"}, {"true\n"});
    EXPECT_NE(made.exit, 0);
    EXPECT_THAT(made.err, HasSubstr("estimated"));
    EXPECT_THAT(start(), StartsWith(of_host(std::string("Mon Nov 23 11:00:"), before)));
}

}  // namespace
}  // namespace pbs::e2e
