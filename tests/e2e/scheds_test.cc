// Tests several schedulers, execution types of queues, and deprecated attributes of the server (PP-748,
// interfaces 1, 5 and 6), as an administrator sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Scheds : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "set server default_queue = work, job_history_enable = True",
            "set server resources_default.walltime = 00:10:00",
            "create node n1 resources_available.ncpus = 2, resources_available.mem = 2gb",
        }));
    }
    // Makes the scheduler `second` for partition `two`, with a policy that starts large jobs first.
    void make_second() {
        ASSERT_TRUE(server.configure({
            "create policy big_first",
            "set policy big_first job_sort_key = 'ncpus HIGH'",
            "create sched second partition = two" + std::string(on_openpbs() ? ", sched_host = box" : ""),
            "set sched second policy = big_first",
            "create queue work2 queue_type=execution, enabled=True, started=True, partition=two",
            "create node n2 resources_available.ncpus = 2, resources_available.mem = 2gb, partition = two",
        }));
    }
    std::string sched(const std::string& name, const std::string& attribute) {
        return server.attribute("sched " + name, attribute);
    }
    std::string job(const std::string& queue, int ncpus) {
        return server.submit("sleep 60\n", {"-q", queue, "-l", "ncpus=" + std::to_string(ncpus)});
    }
    bool comment_says(const std::string& id, const std::string& part) {
        return wait_for([&] { return server.job(id, "comment").find(part) != std::string::npos; });
    }

    Server server;
};

TEST_F(Scheds, TwoSchedulersRunJobsByPoliciesOfTheirOwn) {
    make_second();
    ASSERT_TRUE(server.configure({"set sched default scheduling = False"}));
    const std::string small = job("work", 1);
    const std::string big = job("work", 2);
    const std::string small2 = job("work2", 1);
    const std::string big2 = job("work2", 2);
    ASSERT_TRUE(server.configure({"set sched second scheduling = True"}));
    EXPECT_TRUE(server.wait_job_state(big2, "R")) << "the large one first";
    EXPECT_THAT(server.job(big2, "exec_vnode"), HasSubstr("n2:"));
    EXPECT_EQ(server.job(small2, "job_state"), "Q");
    EXPECT_EQ(server.job(small, "job_state"), "Q") << "the other scheduler's";
    ASSERT_TRUE(server.configure({"set sched default scheduling = True"}));
    EXPECT_TRUE(server.wait_job_state(small, "R")) << "the first one first";
    EXPECT_THAT(server.job(small, "exec_vnode"), HasSubstr("n1:"));
    EXPECT_EQ(server.job(big, "job_state"), "Q");
}

TEST_F(Scheds, ListShowsEachOnesStateAndOutlivesARestart) {
    NEEDS(injected_clock);
    make_second();
    ASSERT_TRUE(server.configure({
        "create policy nights",
        "create time_window office",
        "set time_window office rrule='FREQ=DAILY', start_time=0800, end_time=1700, type=prime",
        "set sched second policy = 'big_first,np:nights'",
        "set sched second comment = 'two of two', scheduler_iteration = 30",
    }));
    struct stat folder {};
    ASSERT_EQ(::stat((server.home() / "sched_priv_second").c_str(), &folder), 0);
    EXPECT_EQ(folder.st_mode & 07777, 0750U);
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(sched("second", "partition"), "two");
        EXPECT_EQ(sched("second", "active_policy"), "big_first");
        EXPECT_EQ(sched("second", "prime_time"), "True");
        EXPECT_EQ(sched("second", "dedicated_time"), "False");
        EXPECT_EQ(sched("second", "next_policy_change"),
                  "Mon Nov 23 17:00:00 2026 to nights, non-prime time");
        // qmgr breaks this long value after the comma, where it leaves out the blank.
        EXPECT_THAT(sched("default", "next_policy_change"),
                    StartsWith("Mon Nov 23 17:00:00 2026 to default_policy,"));
        EXPECT_EQ(sched("second", "state"), "idle");
        EXPECT_EQ(sched("second", "comment"), "two of two");
        EXPECT_EQ(sched("second", "scheduler_iteration"), "30");
        ASSERT_TRUE(server.stop());
        ASSERT_TRUE(server.start());
    }
    server.set_clock(kMonday10 + 7 * 3600 - 1);
    EXPECT_TRUE(wait_for([&] { return sched("second", "active_policy") == "nights"; }));
    EXPECT_TRUE(wait_for([&] {
        return server.log().find("sched second: policy nights is in force after big_first") !=
               std::string::npos;
    }));
}

// OpenPBS has these settings as attributes of its schedulers, from which the plugin copies them into the
// policies. With the bundled server they are set in the policies.
TEST_F(Scheds, WhatOpenpbsKeepsAtItsSchedulersIsSetInTheirPolicies) {
    if (on_openpbs()) GTEST_SKIP() << "tests/openpbs/scheduling_test.cc has it";
    make_second();
    ASSERT_TRUE(
        server.configure({"create policy nights", "set sched second policy = 'big_first,np:nights'"}));
    const Output set = server.qmgr("set sched second sched_preempt_enforce_resumption = True");
    EXPECT_EQ(set.exit, 0) << set;
    EXPECT_THAT(set.err, HasSubstr("is set in its policies: big_first, nights"));
    for (const char* policy : {"policy big_first", "policy nights"})
        EXPECT_EQ(server.attribute(policy, "sched_preempt_enforce_resumption"), "True");
    EXPECT_EQ(server.attribute("policy default_policy", "sched_preempt_enforce_resumption"), "False");
    EXPECT_EQ(server.qmgr("unset sched second sched_preempt_enforce_resumption").exit, 0);
    EXPECT_EQ(server.attribute("policy nights", "sched_preempt_enforce_resumption"), "False");
    const auto refusal = [&](const std::string& directive) {
        const Output done = server.qmgr(directive);
        EXPECT_NE(done.exit, 0) << directive << ": " << done;
        return done.err;
    };
    EXPECT_THAT(refusal("set sched second preempt_order = XYZ"), HasSubstr("preempt_order"));
    EXPECT_THAT(refusal("set sched second preempt_order = SCR, policy = nights"),
                HasSubstr("set it in a request of its own"));
    EXPECT_EQ(server.qmgr("set sched second preempt_order = R, scheduler_iteration = 30").exit, 0);
    EXPECT_EQ(sched("second", "scheduler_iteration"), "30");
    EXPECT_EQ(server.attribute("policy nights", "preempt_order"), "R");
    ASSERT_TRUE(server.configure({"create sched third partition = three"}));
    EXPECT_THAT(refusal("set sched third sched_preempt_enforce_resumption = True"),
                HasSubstr("sched third has none"));
}

TEST_F(Scheds, ADeletedSchedulerFreesItsPolicies) {
    make_second();
    const Output refused = server.qmgr("delete policy big_first");
    EXPECT_NE(refused.exit, 0) << refused;
    EXPECT_THAT(refused.err, HasSubstr("second"));
    ASSERT_TRUE(server.configure({"delete sched second", "delete policy big_first"}));
    EXPECT_NE(server.qmgr("list sched second").exit, 0);
    ASSERT_TRUE(server.configure({"create sched second partition = two"}));
    EXPECT_EQ(sched("second", "policy"), "(none)") << "nothing is left of the one before";
}

TEST_F(Scheds, AJobThatNoSchedulerServesIsToldSo) {
    make_second();
    ASSERT_TRUE(server.configure({
        "create queue lost queue_type=execution, enabled=True, started=True, partition=three",
        "set sched second scheduling = True",
    }));
    const std::string id = job("lost", 1);
    // OpenPBS gives the job no such comment.
    if (!on_openpbs())
        EXPECT_TRUE(comment_says(id, "No scheduler serves queue lost: none has partition three"));
    ASSERT_TRUE(server.configure({"set queue lost partition = two"}));
    EXPECT_TRUE(server.wait_job_state(id, "R"));
}

TEST_F(Scheds, AManagerWhoIsNotRootMakesAndUsesThem) {
    if (!other()) GTEST_SKIP() << "needs to become another user";
    ASSERT_TRUE(server.configure({"set server managers += " + other()->name + "@*"}));
    for (const char* directive :
         {"create sched third partition = three", "set sched third policy = default_policy",
          "set sched third scheduling = True", "unset sched third partition", "delete sched third"}) {
        const Output done = server.command_as(*other(), {"qmgr", "-c", directive});
        EXPECT_EQ(done.exit, 0) << directive << ": " << done;
    }
}

TEST_F(Scheds, ExecutionTypesFollowPrimeAndDedicatedTime) {
    NEEDS(injected_clock);
    ASSERT_TRUE(server.configure({
        "create time_window office",
        "set time_window office rrule='FREQ=DAILY', start_time=0800, end_time=1700, type=prime",
        "create time_window upkeep",
        "set time_window upkeep rrule='FREQ=DAILY', start_time=2000, end_time=2100, type=dedicated",
        "create queue day queue_type=execution_prime, enabled=True, started=True",
        "create queue night queue_type=execution, enabled=True, started=True",
        "set queue night execution_type = execution_non_prime",
        "create queue ded queue_type=execution_dedicated, enabled=True, started=True",
        "create node n2 resources_available.ncpus = 8, resources_available.mem = 2gb",
    }));
    EXPECT_EQ(server.attribute("queue day", "queue_type"), "Execution");
    EXPECT_EQ(server.attribute("queue day", "execution_type"), "execution_prime");
    const std::string day = job("day", 1);
    const std::string night = job("night", 1);
    const std::string ded = job("ded", 1);
    EXPECT_TRUE(server.wait_job_state(day, "R"));
    EXPECT_TRUE(comment_says(night, "Job will run in nonprimetime only, from Mon Nov 23 17:00:00 2026"));
    EXPECT_TRUE(comment_says(ded, "Waiting for dedicated time at Mon Nov 23 20:00:00 2026"));

    server.set_clock(kMonday10 + 7 * 3600 - 1);
    EXPECT_TRUE(server.wait_job_state(night, "R")) << "the clock alone wakes the cycle";
    const std::string tomorrow = job("day", 1);
    EXPECT_TRUE(comment_says(tomorrow, "Job will run in primetime only, from Tue Nov 24 08:00:00 2026"));
    server.set_clock(kMonday10 + 10 * 3600 - 300);
    const std::string into = job("work", 1);
    EXPECT_TRUE(comment_says(into, "Would run into dedicated time at Mon Nov 23 20:00:00 2026"));
    server.set_clock(kMonday10 + 10 * 3600 - 1);
    EXPECT_TRUE(server.wait_job_state(ded, "R"));
    EXPECT_EQ(server.job(into, "job_state"), "Q") << "not in dedicated time";
}

TEST_F(Scheds, DeprecatedServerAttributesWarnWhenTheyAreSetAndOnlyThen) {
    NEEDS(own_attributes);
    const auto warning = [](const std::string& name) {
        return "qmgr: Warning: " + name + " in server is deprecated. Set " + name + " in a policy object.\n";
    };
    for (const char* directive : {"set server backfill_depth = 3", "set server backfill_depth += 1"}) {
        const Output done = server.qmgr(directive);
        EXPECT_EQ(done.exit, 0) << done;
        EXPECT_EQ(done.err, warning("backfill_depth"));
    }
    EXPECT_EQ(server.attribute("server", "backfill_depth"), "4");
    Output done = server.qmgr("set server job_sort_formula = 'ncpus*walltime'");
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_EQ(done.err, warning("job_sort_formula"));
    for (const char* directive : {"unset server backfill_depth", "unset server job_sort_formula"}) {
        done = server.qmgr(directive);
        EXPECT_EQ(done.exit, 0) << done;
        EXPECT_EQ(done.err, "");
    }
    done = server.qmgr("set server job_sort_formula = 'ncpus*('");
    EXPECT_NE(done.exit, 0) << done;
    EXPECT_THAT(done.err, HasSubstr("job_sort_formula"));
    EXPECT_EQ(server.attribute("server", "job_sort_formula"), "(none)");
}

}  // namespace
}  // namespace pbs::e2e
