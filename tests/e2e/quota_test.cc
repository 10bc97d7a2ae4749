// Tests quotas on a running server: rules in qmgr, jobs that wait because of them and the reasons shown,
// pbs_quota, and refused rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Quota : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue qlong queue_type=execution, enabled=True, started=True",
            "create queue qshort queue_type=execution, enabled=True, started=True",
            "create node n1 resources_available.ncpus = 64, resources_available.mem = 8gb",
            "create quota q1",
            "set quota q1 rule.guests = \"users={*} queues={qlong} to ncpus=4\"",
            "set quota q1 rule.rest = \"users={*} to ncpus=6,jobs=9\"",
            "set quota q1 enabled = True",
            "set policy default_policy quotas = q1",
        }));
    }
    std::string job(const std::string& queue, int cpus) {
        return server.submit("sleep 300\n",
                             {"-q", queue, "-l", "ncpus=" + std::to_string(cpus), "-l", "walltime=1:00:00"});
    }
    // Returns qmgr's message for a directive, which has to fail.
    std::string refusal(const std::string& directive) {
        const Output output = server.qmgr(directive);
        EXPECT_NE(output.exit, 0) << directive;
        return output.err;
    }
    Server server;
};

TEST_F(Quota, HoldsJobsBackAndSaysWhy) {
    const std::string first = job("qlong", 3);
    const std::string other = job("qshort", 6);
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    ASSERT_TRUE(server.wait_job_state(other, "R"));
    const std::string waits = job("qlong", 2);
    const std::string fits = job("qlong", 1);
    EXPECT_TRUE(server.wait_job_state(fits, "R"));
    EXPECT_TRUE(wait_for([&] {
        return server.job(waits, "comment") == "Not Running: Quota q1 (guests): ncpus (R: 2 U: 4 L: 4)" ||
               server.job(waits, "comment") == "Not Running: Quota q1 (guests): ncpus (R: 2 U: 3 L: 4)";
    })) << server.job(waits, "comment");
    const Output use = server.command({"pbs_quota"});
    EXPECT_EQ(use.exit, 0) << use.err;
    EXPECT_THAT(use.out, ContainsRegex("q1 +guests +users=[a-z]+ queues=qlong +ncpus +4 +4 +yes"));
    EXPECT_THAT(use.out, ContainsRegex("q1 +rest +users=[a-z]+ +ncpus +6 +6 +yes"));
    EXPECT_THAT(use.out, ContainsRegex("q1 +rest +users=[a-z]+ +jobs +1 +9 +yes"));
    EXPECT_THAT(server.command({"pbs_quota", "-F", "json", "-q", "qlong", "q1"}).out,
                AllOf(HasSubstr("\"rule\": \"guests\""), HasSubstr("\"limit\": \"4\"")));
    const std::vector<std::string> diagram{"pbs_calendar", "resources", "ncpus", "--quota", "q1"};
    const Output of_all = server.command(diagram);
    EXPECT_NE(of_all.exit, 0);
    EXPECT_THAT(of_all.err, HasSubstr("found 2 counters of ncpus, expected one, by --rule and --of"));
    auto of_guests = diagram;
    of_guests.insert(of_guests.end(), {"--rule", "guests"});
    EXPECT_THAT(server.command(of_guests).out,
                AllOf(HasSubstr("ncpus of quota q1 (guests) users="), ContainsRegex("queues=qlong: 4; "),
                      HasSubstr("in use 4  planned 0  booked 0  free 0")));
    EXPECT_THAT(server.command({"pbs_explain", waits}).out, HasSubstr("Quota q1 (guests): ncpus"));
    // A changed limit is in force from the next cycle.
    ASSERT_TRUE(server.configure({"set quota q1 rule.guests = \"users={*} queues={qlong} to ncpus=6\""}));
    EXPECT_TRUE(server.wait_job_state(waits, "R"));
}

// The resource that is made anew is the one that the formula reads.
TEST_F(Quota, HasFormulasOverResourcesThatAreMadeAnew) {
    const char* make = "create resource pt type=long, flag=h";
    const char* rule = "set quota q1 rule.guests = \"vnodes={*} to ncpus=(pt*2)\"";
    ASSERT_TRUE(
        server.configure({make, "set node n1 resources_available.pt = 9", rule, "unset quota q1 rule.rest"}));
    ASSERT_TRUE(server.wait_job_state(job("qlong", 1), "R"));
    EXPECT_THAT(server.command({"pbs_quota"}).out, ContainsRegex("vnodes=n1 +ncpus +1 +18 "));
    ASSERT_TRUE(
        server.configure({"set quota q1 rule.guests = \"to jobs=9\"", "unset node n1 resources_available.pt",
                          "delete resource pt", make, "set node n1 resources_available.pt = 3", rule}));
    EXPECT_TRUE(server.wait_job_state(job("qlong", 5), "R"));
    EXPECT_THAT(server.command({"pbs_quota"}).out, ContainsRegex("vnodes=n1 +ncpus +6 +6 "));
    const std::string waits = job("qlong", 1);
    EXPECT_TRUE(wait_for([&] {
        return server.job(waits, "comment").find("Quota q1 (guests): ncpus") != std::string::npos;
    })) << server.job(waits, "comment");
}

TEST_F(Quota, IsListedPrintedAndKept) {
    ASSERT_TRUE(server.configure({"set quota q1 rule_order = \"rest,guests\""}));
    EXPECT_THAT(server.qmgr("list quota q1").out,
                AllOf(HasSubstr("rule.guests = users={*} queues={qlong} to ncpus=4"),
                      HasSubstr("rule_order = rest,guests"), HasSubstr("spill = True"),
                      HasSubstr("in_force = default")));
    const std::string printed = server.qmgr("print quota q1").out;
    EXPECT_THAT(printed, HasSubstr("set quota q1 rule.guests = \"users={*} queues={qlong} to ncpus=4\""));
    // The printed commands make the same quota again after it was deleted.
    ASSERT_TRUE(server.configure({"unset policy default_policy quotas", "delete quota q1"}));
    EXPECT_EQ(server.command({"qmgr"}, {.input = printed}).exit, 0);
    EXPECT_EQ(server.qmgr("print quota q1").out, printed);
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.qmgr("print quota q1").out, printed);
    ASSERT_TRUE(server.configure({"unset quota q1 rule_order", "unset quota q1 rule.guests"}));
    EXPECT_THAT(server.qmgr("print quota q1").out, Not(HasSubstr("guests")));
}

TEST_F(Quota, RefusesWhatIsNoRule) {
    struct Case {
        const char* rule;
        const char* says;
    };
    for (const Case& c :
         {Case{"user={*} to ncpus=4", "column 1: found 'user={*}', expected users=LIST"},
          Case{"users={*}", "the rule ends, expected 'to' and limits"},
          Case{"users={*} to", "expected RESOURCE=LIMIT"},
          Case{"users={* to ncpus=4", "column 7: expected a closing brace"},
          Case{"users={a,,b} to ncpus=4", "column 10: an element is empty"},
          Case{"users=a users=b to ncpus=4", "users is there twice"},
          Case{"users={*} to ncpus=-1", "expected a limit of at least 0"},
          Case{"users={*} to ncpus=(2*ncpus)", "column 14: a formula needs vnodes in braces, or one vnode"},
          Case{"users={*} to ncpus=4,ncpus=5", "ncpus is limited twice"},
          Case{"users={*} to ngpus9=4", "'ngpus9' is not a resource of this server"},
          Case{"queues=nowhere to ncpus=4", "there is no queue 'nowhere'"},
          Case{"shapes=round to ncpus=4",
               "column 8: found 'round', expected array, interactive, multi, single"}})
        EXPECT_THAT(refusal("set quota q1 rule.bad = \"" + std::string(c.rule) + "\""), HasSubstr(c.says));
    EXPECT_THAT(refusal("set quota q1 rule_order = nothing"), HasSubstr("the quota has no such rule"));
    EXPECT_THAT(refusal("set quota q1 spill.x = True"), HasSubstr("spill is not a resource list"));
    EXPECT_THAT(refusal("set policy default_policy quotas = q2"), HasSubstr("there is no quota 'q2'"));
    EXPECT_THAT(refusal("delete quota q1"), HasSubstr("policy default_policy (quotas q1)"));
    EXPECT_THAT(refusal("delete queue qlong"), HasSubstr("quota q1 (rule)"));
    EXPECT_THAT(server.qmgr("set quota q1 rule.late = \"users={*} queues={qlong} to jobs=1\"").err,
                HasSubstr("rule.late is never reached: rule.guests before it matches all of its jobs"));
    EXPECT_EQ(server.command({"pbs_quota", "-I", "nobody"}).exit != 0, true);
    const Output nosuch = server.command({"pbs_quota", "nosuch"});
    EXPECT_NE(nosuch.exit, 0);
    EXPECT_THAT(nosuch.err, HasSubstr("there is no quota 'nosuch'"));
    EXPECT_EQ(server.command({"pbs_quota", "q1"}).exit, 0) << "nothing of it is in use";
    EXPECT_EQ(server.command({"pbs_quota"}).out, "No running job is counted by a quota.\n");
    EXPECT_EQ(server.command({"pbs_quota", "-u", "nix", "-q", "work", "q1"}).out,
              "No running job of user nix in queue work is counted by quota q1.\n");
    EXPECT_THAT(refusal("unset quota q1 rule.nosuch"),
                HasSubstr("rule.nosuch: there is no rule of this name"));
    EXPECT_EQ(server.command({"pbs_quota", "-F", "xml"}).exit, 2);
}

}  // namespace
}  // namespace pbs::e2e
