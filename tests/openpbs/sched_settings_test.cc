// Tests settings of OpenPBS's server, schedulers and jobs that pbs_sched acts on. When the plugin schedules,
// it acts on them, too, or says that it doesn't.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/openpbs/scheduled_site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OpenpbsSchedSettings : public ScheduledSite {
  protected:
    std::string unsupported() const {
        return attribute_in(site->ok("$ours/qmgr -c 'list sched default'"), "unsupported_settings");
    }
    bool has_estimate(const std::string& job) const {
        return attribute(job, "estimated.start_time") != attribute_in("", "estimated.start_time");
    }
    // Submits a job that runs, and two jobs that wait for its CPUs. The first waiting job has an estimated
    // start.
    void two_wait() {
        accept("set policy default_policy strict_ordering = True, backfill_depth = 1");
        runs = submit("-l select=1:ncpus=2 -l walltime=2:00:00");
        expect_state(runs, "R");
        first = submit("-l select=1:ncpus=2 -l walltime=1:00:00");
        second = submit("-l select=1:ncpus=2 -l walltime=1:00:00");
        EXPECT_TRUE(wait_for([&] { return has_estimate(first); }, kLong)) << why(first);
        EXPECT_FALSE(has_estimate(second));
    }
    std::string runs;
    std::string first;
    std::string second;
};

TEST_P(OpenpbsSchedSettings, AlgorithmExternalWithoutPbsSchedIsToldAsWhatItIs) {
    site->ok("$ours/qmgr -c 'create policy other algorithm = external'");
    EXPECT_THAT(site->qmgr("set sched default policy = other").err,
                HasSubstr("policy other: algorithm external leaves the jobs"));
    site->ok("$ours/qmgr -c 'set sched default policy = default_policy'");
    const Output set = site->qmgr("set policy default_policy algorithm = external");
    EXPECT_EQ(set.exit, 0) << set;
    EXPECT_THAT(set.err, AllOf(HasSubstr("no job starts until pbs_sched runs"), Not(HasSubstr("standard"))));
    EXPECT_TRUE(scheduled_by("nobody: algorithm external leaves it to pbs_sched")) << why("");
    EXPECT_THAT(site->ok("$ours/qmgr -c 'list sched default'"), Not(HasSubstr("has no effect")));
    const std::string job = submit("-l select=1:ncpus=1");
    site->ok("$(dirname $stock)/sbin/pbs_sched");
    EXPECT_TRUE(scheduled_by("pbs_sched")) << why("");
    expect_state(job, "R");
    site->ok("kill $(cat /var/spool/pbs/sched_priv/sched.lock)");
    EXPECT_TRUE(scheduled_by("nobody")) << why("");
    accept("set policy default_policy algorithm = standard");
    EXPECT_TRUE(scheduled_by("pbs_policy")) << why("");
}

TEST_P(OpenpbsSchedSettings, ASettingIsInAllPoliciesOfASchedulerOrInNone) {
    accept("create policy nights");
    accept("set sched default policy = \"default_policy,np:nights\"");
    const auto sql = [&](const std::string& statement) {
        site->ok(
            "python3 - <<'END'\nimport sqlite3\nsqlite3.connect('/var/spool/pbs/server_priv/policy.db')" +
            (".execute(\"" + statement + "\")\nEND"));
    };
    const auto orders = [&] {
        std::string all;
        for (const char* policy : {"default_policy", "nights"})
            all += " " + attribute_in(site->ok(std::string("$ours/qmgr -c 'list policy ") + policy + "'"),
                                      "preempt_order");
        return all;
    };
    sql("CREATE TRIGGER fails BEFORE INSERT ON attribute WHEN NEW.object = (SELECT id FROM object WHERE name "
        "= "
        "'nights') BEGIN SELECT RAISE(ABORT, 'no room'); END");
    accept("set sched default preempt_order = \"R\"");
    EXPECT_TRUE(wait_for(
        [&] {
            return why("").find(
                       "preempt_order is set to R in its policies: can't be written and is tried "
                       "again") != std::string::npos;
        },
        kLong))
        << why("");
    EXPECT_EQ(orders(), " SCR SCR");
    sql("DROP TRIGGER fails");
    EXPECT_TRUE(wait_for([&] { return orders() == " R R"; }, kLong)) << orders() << why("");
}

TEST_P(OpenpbsSchedSettings, OptBackfillFuzzyIsNamedWhereItIsSet) {
    const Output set = site->stock_qmgr("set sched default opt_backfill_fuzzy = high");
    EXPECT_EQ(set.exit, 0) << set;
    const std::string line =
        "sched default: opt_backfill_fuzzy has no effect: the start of a top job is computed to the second";
    EXPECT_THAT(set.err, HasSubstr(line));
    EXPECT_TRUE(wait_for([&] { return unsupported().find(line) != std::string::npos; }, kLong)) << why("");
    site->ok(
        "cat /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd.log 2>/dev/null | "
        "grep -q 'opt_backfill_fuzzy has no effect'");
    EXPECT_EQ(site->stock_qmgr("unset sched default opt_backfill_fuzzy").err, "");
    EXPECT_TRUE(wait_for([&] { return unsupported().find("fuzzy") == std::string::npos; }, kLong)) << why("");
}

TEST_P(OpenpbsSchedSettings, AJobThatIsTopjobIneligibleGetsNoPlaceKept) {
    two_wait();
    EXPECT_NE(site->sh("$stock/qalter -W topjob_ineligible=True " + first, "una").exit, 0) << "is no manager";
    site->ok("$stock/qalter -W topjob_ineligible=True " + first, "alice");
    EXPECT_TRUE(wait_for([&] { return has_estimate(second); }, kLong)) << why(second);
    // The first job is eligible again, and starts once the running job is gone.
    site->ok("$stock/qalter -W topjob_ineligible=False " + first, "alice");
    site->ok("$stock/qdel " + runs, "una");
    expect_state(first, "R");
}

TEST_P(OpenpbsSchedSettings, EstimatesOfJobsThatAreNoTopJobsAreForgottenIfTheServerIsToForget) {
    two_wait();
    if (site->stock_qmgr("set server clear_topjob_estimates_enable = True").exit != 0)
        GTEST_SKIP() << "this OpenPBS has no clear_topjob_estimates_enable";
    // The server then forgets all estimates. The plugin sends the estimates of top jobs again.
    EXPECT_TRUE(wait_for([&] { return has_estimate(first); }, kLong)) << why(first);
    const auto only_second = [&] { return !has_estimate(first) && has_estimate(second); };
    site->ok("$stock/qalter -W topjob_ineligible=True " + first, "alice");
    EXPECT_TRUE(wait_for(only_second, kLong)) << why(first) << why(second);
    // The plugin also clears an estimate that it had sent before the server was killed.
    site->kill_server();
    site->start_with_plugin();
    EXPECT_TRUE(scheduled_by("pbs_policy"));
    site->ok("$stock/qalter -W topjob_ineligible=True " + second, "alice");
    EXPECT_TRUE(wait_for([&] { return !has_estimate(second); }, kLong)) << why(second);
}

TEST_P(OpenpbsSchedSettings, UsageOfSharesIsSetBeforeAPolicyGoesByThem) {
    accept("create fs_group team");
    accept("set fs_group team tree_element = 'una:root=60,alice:root=40'");
    accept("set policy default_policy fairshare_group = team");
    site->ok("$ours/pbs_fairshare -s una 500", "alice");
    EXPECT_THAT(site->ok("$ours/pbs_fairshare -g una", "alice"), HasSubstr("500"));
    EXPECT_THAT(site->ok("$ours/pbs_fairshare", "alice"), HasSubstr("No policy goes by these shares"));
    accept("set policy default_policy fairshare = True");
    EXPECT_THAT(site->ok("$ours/pbs_fairshare", "alice"),
                AllOf(HasSubstr("500"), Not(HasSubstr("No policy goes by these shares"))));
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsSchedSettings, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e
