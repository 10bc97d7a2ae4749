// Tests of eligible_time_enable, with which a job's waiting time counts or not, depending on the reason why
// the job waits. Also tests of the scheduler's log, whose events the policy chooses by log_event.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class EligibleTime : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "create queue free queue_type=execution, enabled=True, started=True",
            "set server default_queue=work, job_history_enable=True, eligible_time_enable=True",
            "create node n1 resources_available.ncpus=8",
            "set queue work max_run=[u:PBS_GENERIC=1]",
        }));
    }
    std::string job(const std::string& queue, std::vector<std::string> options = {}) const {
        options.insert(options.end(), {"-q", queue, "-l", "ncpus=8,walltime=10:00:00"});
        return server.submit("exec sleep 60\n", options);
    }
    bool counts_as(const std::string& id, const std::string& type) const {
        return wait_for([&] { return server.job(id, "accrue_type") == type; });
    }
    std::string sched_log() const { return server.read("sched_logs/20261123"); }

    Server server;
};

TEST_F(EligibleTime, CountsByWhatTheJobWaitsFor) {
    NEEDS(injected_clock);
    const std::string runs = job("work");
    ASSERT_TRUE(server.wait_job_state(runs, "R"));
    const std::string limited = job("work");
    const std::string waits = job("free");
    const std::string held = job("free", {"-h"});
    EXPECT_TRUE(counts_as(limited, "1"));
    EXPECT_TRUE(counts_as(waits, "2"));
    EXPECT_TRUE(counts_as(held, "1"));
    EXPECT_TRUE(counts_as(runs, "3"));

    server.set_clock(kMonday10 + 3610);
    EXPECT_EQ(server.job(limited, "eligible_time").substr(0, 5), "00:00");
    EXPECT_EQ(server.job(waits, "eligible_time").substr(0, 5), "01:00");
    EXPECT_EQ(server.job(held, "eligible_time"), "00:00:00");

    server.kill9();
    ASSERT_TRUE(server.start());
    server.set_clock(kMonday10 + 7210);
    EXPECT_EQ(server.job(waits, "eligible_time").substr(0, 5), "02:00");
    EXPECT_EQ(server.job(limited, "eligible_time").substr(0, 5), "00:00");
    ASSERT_EQ(server.command({"qrls", held}).exit, 0);
    EXPECT_TRUE(counts_as(held, "2"));
    ASSERT_TRUE(server.configure({"unset queue work max_run"}));
    EXPECT_TRUE(counts_as(limited, "2"));
}

TEST_F(EligibleTime, ManagersSetItAndRecordsHaveIt) {
    NEEDS(injected_clock);
    const std::string runs = job("work");
    ASSERT_TRUE(server.wait_job_state(runs, "R"));
    const std::string waits = job("free");
    const std::string held = job("free", {"-h"});
    ASSERT_TRUE(counts_as(waits, "2"));
    server.set_clock(kMonday10 + 600);
    for (const std::string& id : {waits, held})
        EXPECT_EQ(server.command({"qalter", "-W", "eligible_time=05:00:00", id}).err, "");
    EXPECT_EQ(server.job(held, "eligible_time"), "05:00:00");
    EXPECT_EQ(server.job(waits, "eligible_time").substr(0, 5), "05:00");
    server.set_clock(kMonday10 + 4205);  // an hour and a few seconds later
    EXPECT_EQ(server.job(held, "eligible_time"), "05:00:00");
    EXPECT_EQ(server.job(waits, "eligible_time").substr(0, 5), "06:00");
    EXPECT_NE(server.command({"qalter", "-W", "eligible_time=soon", held}).exit, 0);
    if (runner().name != "root") {
        EXPECT_NE(server.command_as(runner(), {"qalter", "-W", "eligible_time=1", held}).exit, 0);
    }
    ASSERT_EQ(server.command({"qdel", runs}).exit, 0);
    EXPECT_TRUE(wait_for([&] {
        const std::string records = server.read("server_priv/accounting/20261123");
        const auto end = records.find(";E;" + runs);
        return end != std::string::npos && records.find(" eligible_time=00:00:0", end) != std::string::npos;
    }));
    ASSERT_TRUE(server.configure({"set server eligible_time_enable=False"}));
    EXPECT_THAT(server.command({"qalter", "-W", "eligible_time=1", held}).err,
                HasSubstr("Cannot set attribute when eligible_time_enable is OFF"));
}

TEST_F(EligibleTime, OrdersJobsByTheFormula) {
    NEEDS(injected_clock);
    const std::string runs = job("work");
    ASSERT_TRUE(server.wait_job_state(runs, "R"));
    const std::string limited = job("work");
    ASSERT_TRUE(counts_as(limited, "1"));
    server.set_clock(kMonday10 + 3600);
    const std::string waits = job("free");
    ASSERT_TRUE(counts_as(waits, "2"));
    ASSERT_TRUE(
        server.configure({"set policy default_policy by_queue=False, job_sort_formula=eligible_time"}));
    server.set_clock(kMonday10 + 3660);
    ASSERT_EQ(server.command({"qdel", runs}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(waits, "R")) << "before the older job";
    EXPECT_EQ(server.job(limited, "job_state"), "Q");
}

TEST_F(EligibleTime, WhatIsNotAboveTheThresholdWaits) {
    ASSERT_TRUE(server.configure({"set policy default_policy job_sort_formula=ncpus",
                                  "set policy default_policy job_sort_formula_threshold=8"}));
    const std::string waits = job("free");
    EXPECT_TRUE(wait_for([&] {
        return server.job(waits, "comment") == "Not Running: Job is under job_sort_formula threshold value";
    }));
    EXPECT_TRUE(counts_as(waits, "1"));
    ASSERT_TRUE(server.configure({"set policy default_policy job_sort_formula_threshold=7.5"}));
    EXPECT_TRUE(server.wait_job_state(waits, "R"));
}

TEST_F(EligibleTime, TheSchedulersLogHasWhatThePolicyChooses) {
    NEEDS(own_log);
    ASSERT_TRUE(server.configure({"set policy default_policy log_event=64"}));
    const std::string runs = job("work");
    const std::string limited = job("work");
    ASSERT_TRUE(server.wait_job_state(runs, "R"));
    EXPECT_TRUE(wait_for([&] { return sched_log().find(limited) != std::string::npos; }));
    EXPECT_THAT(sched_log(), HasSubstr(";0040;pbs_sched;Job;" + runs + ";Job run\n"));
    EXPECT_THAT(sched_log(), HasSubstr(";0040;pbs_sched;Job;" + limited + ";"));
    EXPECT_THAT(sched_log(), Not(HasSubstr("Accrue type")));
    const std::string before = sched_log();
    ASSERT_TRUE(server.configure({"set policy default_policy log_event=1024"}));
    const std::string next = job("work");
    EXPECT_TRUE(wait_for([&] { return sched_log().find(";0400;") != std::string::npos; }));
    const std::string after = sched_log().substr(before.size());
    EXPECT_THAT(after, HasSubstr(";0400;pbs_sched;Job;" + next + ";Accrue type is 1\n"));
    EXPECT_THAT(after, Not(HasSubstr(";0040;")));
}

}  // namespace
}  // namespace pbs::e2e
