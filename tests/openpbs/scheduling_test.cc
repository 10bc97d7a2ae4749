// Tests the plugin when it schedules the jobs of an OpenPBS server in place of pbs_sched.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/openpbs/scheduled_site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OpenpbsScheduling : public ScheduledSite {};

TEST_P(OpenpbsScheduling, JobsStartAndSayWhyTheyWait) {
    EXPECT_NE(site->sh("pgrep -x pbs_sched").exit, 0) << "pbs_sched was started, too";
    const std::string first = submit("-l select=1:ncpus=2");
    expect_state(first, "R");
    EXPECT_EQ(attribute(first, "exec_vnode"), "(box:ncpus=2)");
    const std::string second = submit("-l select=1:ncpus=1");
    expect_comment(second, "Not Running");
    EXPECT_EQ(attribute(second, "job_state"), "Q");
    // The end of the first job makes room for the second.
    site->ok("$stock/qdel " + first, "una");
    expect_state(second, "R");
    // There is room for only one of two more jobs.
    const std::string third = submit("-l select=1:ncpus=1");
    const std::string fourth = submit("-l select=1:ncpus=1");
    expect_state(third, "R");
    expect_comment(fourth, "Not Running");
    // pbs_explain gets its answer from the plugin.
    EXPECT_THAT(site->ok("$ours/pbs_explain " + fourth, "una"),
                HasSubstr(fourth.substr(0, fourth.find('.'))));
}

TEST_P(OpenpbsScheduling, ThePolicyDecidesAndChangesOfItCount) {
    accept("set policy default_policy strict_ordering = True, backfill_depth = 0");
    const std::string runs = submit("-l select=1:ncpus=1");
    expect_state(runs, "R");
    const std::string large = submit("-l select=1:ncpus=2");
    expect_comment(large, "Not Running");
    const std::string small = submit("-l select=1:ncpus=1");
    expect_comment(small, "Not Running");
    EXPECT_EQ(attribute(small, "job_state"), "Q");
    accept("set policy default_policy strict_ordering = False");
    expect_state(small, "R");
    EXPECT_EQ(attribute(large, "job_state"), "Q");
}

TEST_P(OpenpbsScheduling, WhatNoCommandTellsOfIsNoticed) {
    const std::string first = submit("-l select=1:ncpus=2");
    expect_state(first, "R");
    const std::string second = submit("-l select=1:ncpus=2");
    expect_comment(second, "Not Running");
    // The vnode's resources change.
    accept("set node box resources_available.ncpus = 4");
    expect_state(second, "R");
    const std::string third = submit("-l select=1:ncpus=3");
    expect_comment(third, "Not Running");
    // The job's request changes.
    accept("set node box resources_available.ncpus = 5");
    site->ok("$stock/qalter -l select=1:ncpus=1 " + third, "una");
    expect_state(third, "R");
    // A held job is released.
    accept("set node box resources_available.ncpus = 6");
    const std::string held = submit("-h -l select=1:ncpus=1");
    expect_state(held, "H");
    site->ok("$stock/qrls " + held, "una");
    expect_state(held, "R");
    // An offline vnode comes back.
    site->ok("$stock/pbsnodes -o box");
    accept("set node box resources_available.ncpus = 7");
    const std::string fourth = submit("-l select=1:ncpus=1");
    expect_comment(fourth, "Not Running");
    site->ok("$stock/pbsnodes -r box");
    expect_state(fourth, "R");
    // A stopped queue is started.
    accept("set queue workq started = False");
    accept("set node box resources_available.ncpus = 8");
    const std::string fifth = submit("-l select=1:ncpus=1");
    expect_comment(fifth, "Not Running");
    accept("set queue workq started = True");
    expect_state(fifth, "R");
    // A new resource is defined.
    accept("create resource widgets type = long, flag = nh");
    accept("set node box resources_available.widgets = 1, resources_available.ncpus = 16");
    const std::string one = submit("-l select=1:ncpus=1:widgets=1");
    expect_state(one, "R");
    EXPECT_EQ(attribute(one, "exec_vnode"), "(box:ncpus=1:widgets=1)");
    const std::string two = submit("-l select=1:ncpus=1:widgets=1");
    expect_comment(two, "Not Running");
}

TEST_P(OpenpbsScheduling, AMomThatReadsItsVnodesAnewIsNoticed) {
    site->ok(
        "printf '$configversion 2\nbox: sharing=force_excl\n' > /tmp/vnodes; $stock/../sbin/pbs_mom -s "
        "insert vnodes /tmp/vnodes; kill -HUP $(cat /var/spool/pbs/mom_priv/mom.lock)");
    EXPECT_TRUE(wait_for(
        [&] { return attribute_in(site->sh("$stock/pbsnodes box").out, "sharing") == "force_excl"; }, kLong));
    expect_state(submit("-l select=1:ncpus=1"), "R");
    expect_comment(submit("-l select=1:ncpus=1"), "Not Running: ");
}

TEST_P(OpenpbsScheduling, AnEndAsksForNoListOfAllJobs) {
    const auto lists = [&] {
        return number_of(
            site->ok("cat /var/spool/pbs/server_logs/* | grep -c 'Type 16 request received from Scheduler' "
                     "|| true"));
    };
    const std::string first = submit("-l select=1:ncpus=2");
    const std::string second = submit("-l select=1:ncpus=2");
    const std::string third = submit("-l select=1:ncpus=2");
    expect_state(first, "R");
    expect_comment(third, "Not Running");
    const int before = lists();
    site->ok("$stock/qdel " + first, "una");
    expect_state(second, "R");
    EXPECT_EQ(lists(), before);
    // A waiting job is deleted.
    site->ok("$ours/pbs_explain " + third, "una");
    site->ok("$stock/qdel " + third, "una");
    EXPECT_TRUE(wait_for([&] { return lists() == before + 1; }, kLong));
    EXPECT_TRUE(wait_for([&] { return site->sh("$ours/pbs_explain " + third, "una").exit != 0; }, kLong));
    // Subjobs end, and one subjob waits to run again: the server counts that one, but doesn't describe it.
    const std::string array = submit("-J 1-2 -l select=1:ncpus=1");
    expect_comment(array, "Not Running");
    site->ok("$stock/qdel " + second, "una");
    const auto subjob = [&](const char* index) {
        const auto bracket = array.find("[]");
        return array.substr(0, bracket) + "[" + index + array.substr(bracket + 1);
    };
    expect_state(subjob("1"), "R");
    expect_state(subjob("2"), "R");
    accept("set queue workq started = False");
    site->ok("$stock/qrerun " + subjob("1"), "oscar");
    expect_state(subjob("1"), "Q");
    const std::string fourth = submit("-l select=1:ncpus=2");
    expect_comment(fourth, "Not Running");
    EXPECT_EQ(lists(), before + 1);
    site->ok("$stock/qdel " + fourth, "una");
    EXPECT_TRUE(wait_for([&] { return site->sh("$ours/pbs_explain " + fourth, "una").exit != 0; }, kLong));
    accept("set queue workq started = True");
    expect_state(subjob("1"), "R");
    const std::string fifth = submit("-l select=1:ncpus=1");
    expect_comment(fifth, "Not Running");
    const int later = lists();
    site->ok("$stock/qdel " + subjob("2"), "una");
    expect_state(fifth, "R");
    EXPECT_EQ(lists(), later);
}

// Only one of the schedulers queries all jobs. Changes that it finds concern the other schedulers, too.
TEST_P(OpenpbsScheduling, WhatNoCommandTellsOfIsForEachScheduler) {
    site->ok("mkdir -m 750 /var/spool/pbs/sched_priv_second; mkdir /var/spool/pbs/sched_logs_second");
    accept("create sched second partition = two, sched_host = box");
    accept("set sched second policy = default_policy");
    EXPECT_TRUE(wait_for(
        [&] {
            return attribute_in(site->sh("$stock/qmgr -c 'list sched second'").out, "scheduled_by") ==
                   "pbs_policy";
        },
        kLong));
    for (const char* scheduling : {"False", "True"}) {
        accept(std::string("set sched second scheduling = ") + scheduling);
        const std::string job = submit("-l select=1:ncpus=3");
        expect_comment(job, "Can Never Run");
        site->ok("$stock/qalter -l select=1:ncpus=1 " + job, "una");
        expect_state(job, "R");
        site->ok("$stock/qdel " + job, "una");
    }
}

TEST_P(OpenpbsScheduling, SchedulingIsTurnedOffAndOn) {
    accept("set server scheduling = False");
    const std::string job = submit("-l select=1:ncpus=1");
    accept("set node box resources_available.ncpus = 3");
    EXPECT_FALSE(wait_for([&] { return attribute(job, "job_state") == "R"; }, std::chrono::seconds(2)));
    // Although scheduling is off, qrun starts the job, if the scheduler finds room.
    site->ok("$stock/qrun " + job, "oscar");
    expect_state(job, "R");
    const std::string next = submit("-l select=1:ncpus=1");
    accept("set server scheduling = True");
    expect_state(next, "R");
}

TEST_P(OpenpbsScheduling, QrunWithAndWithoutVnodes) {
    accept("set policy default_policy preemption = False");
    accept("set server scheduling = False");
    const std::string first = submit("-l select=1:ncpus=2");
    const std::string second = submit("-l select=1:ncpus=2");
    site->ok("$stock/qrun " + first, "oscar");
    expect_state(first, "R");
    // There is no room for the second job.
    EXPECT_THAT(site->refused("$stock/qrun " + second, "oscar"), HasSubstr(second));
    EXPECT_EQ(attribute(second, "job_state"), "Q");
    // If an operator names vnodes, the room on them isn't checked.
    site->ok("$stock/qrun -H box " + second, "oscar");
    expect_state(second, "R");
    // The plugin knows of the second job, and that no room is left for a third.
    accept("set server scheduling = True");
    const std::string third = submit("-l select=1:ncpus=1");
    expect_comment(third, "Not Running");
    site->ok("$stock/qdel " + first + " " + second, "una");
    expect_state(third, "R");
}

TEST_P(OpenpbsScheduling, QrunPreempts) {
    const std::string first = submit("-l select=1:ncpus=2");
    expect_state(first, "R");
    const std::string second = submit("-l select=1:ncpus=2");
    expect_comment(second, "Not Running");
    site->ok("$stock/qrun " + second, "oscar");
    expect_state(second, "R");
    expect_state(first, "S");
    expect_comment(first, "Preempted by suspension for job " + second);
    site->ok("$stock/qdel " + second, "una");
    expect_state(first, "R");
}

TEST_P(OpenpbsScheduling, QrunOfASubjobPreemptsNoneOfItsArray) {
    const std::string other = submit("-l select=1:ncpus=1");
    expect_state(other, "R");
    const std::string array = submit("-J 1-4 -l select=1:ncpus=1");
    const auto subjob = [&](const char* index) {
        const auto bracket = array.find("[]");
        return array.substr(0, bracket) + "[" + index + array.substr(bracket + 1);
    };
    expect_state(subjob("1"), "R");
    site->ok("$stock/qrun " + subjob("2"), "oscar");
    expect_state(subjob("2"), "R");
    expect_state(other, "S");
    EXPECT_EQ(attribute(subjob("1"), "job_state"), "R");
    // The other subjobs wait. The array has begun, so its comment still says when.
    const std::string last = submit("-l select=1:ncpus=1");
    expect_comment(last, "Not Running");
    EXPECT_THAT(attribute(array, "comment"), HasSubstr("Job Array Began at "));
}

// The plugin has these attributes in its policies. OpenPBS has them at its schedulers.
TEST_P(OpenpbsScheduling, WhatIsSetOfTheSchedulerIsSetInItsPolicy) {
    const auto policy_has = [&](const char* name, const std::string& value) {
        return wait_for(
            [&] {
                return attribute_in(site->sh("$ours/qmgr -c 'list policy default_policy'").out, name) ==
                       value;
            },
            kLong);
    };
    accept("set sched default preempt_order = \"R\"");
    EXPECT_TRUE(policy_has("preempt_order", "R")) << why("");
    for (const std::string name :
         {"do_not_span_psets", "only_explicit_psets", "sched_preempt_enforce_resumption"}) {
        accept("set sched default " + name + " = True");
        EXPECT_TRUE(policy_has(name.c_str(), "True")) << why("");
        accept("unset sched default " + name);
        EXPECT_TRUE(policy_has(name.c_str(), "False")) << why("");
    }
    site->ok("$stock/qmgr -c 'set server job_sort_formula = ncpus'");
    EXPECT_TRUE(policy_has("job_sort_formula", "ncpus")) << why("");
    site->ok("$stock/qmgr -c 'unset server job_sort_formula'");
    EXPECT_TRUE(policy_has("job_sort_formula", "(none)")) << why("");
    // When it preempts, the plugin sets the scheduler's preempt_order for the server. That doesn't change the
    // preempt_order of the policy.
    accept("create queue express queue_type=execution, enabled=True, started=True, Priority=200");
    accept("set policy default_policy preempt_order = \"S 50 R\"");
    const std::string victim = submit("-l select=1:ncpus=2");
    expect_state(victim, "R");
    const std::string express = submit("-q express -l select=1:ncpus=2");
    expect_state(express, "R");
    expect_comment(victim, "Preempted by suspension for job " + express);
    accept("set server scheduling = True");
    EXPECT_EQ(attribute_in(site->sh("$stock/qmgr -c 'list sched default'").out, "preempt_order"), "S");
    site->ok("$stock/qdel " + express, "una");
    expect_state(victim, "R");
    EXPECT_TRUE(policy_has("preempt_order", "S 50 R"));
}

// OpenPBS's branch master lets a scheduler without a sched_host register; the releases refuse it.
TEST_P(OpenpbsScheduling, ASchedulerWithoutAHostIsToldToHaveOne) {
    accept("create sched other partition = P1");
    const auto scheduled_by = [&] {
        return attribute_in(site->sh("$stock/qmgr -c 'list sched other'").out, "scheduled_by");
    };
    EXPECT_TRUE(wait_for(
        [&] {
            const std::string by = scheduled_by();
            return by == "pbs_policy" || by.find("its sched_host isn't set") != std::string::npos;
        },
        kLong))
        << scheduled_by();
    accept("set sched other sched_host = box");
    EXPECT_TRUE(wait_for([&] { return scheduled_by() == "pbs_policy"; }, kLong)) << scheduled_by();
}

// The folders of the scheduler `default` can't be set, so the test creates another scheduler.
TEST_P(OpenpbsScheduling, AFolderOfASchedulerThatIsNotThereIsTold) {
    const auto says_of_itself = [&](const char* name, const std::string& value) {
        return wait_for(
            [&] { return attribute_in(site->sh("$stock/qmgr -c 'list sched other'").out, name) == value; },
            kLong);
    };
    accept("create sched other");
    accept("set sched other sched_host = box, partition = P1, scheduling = True");
    EXPECT_TRUE(says_of_itself("scheduled_by", "pbs_policy")) << why("");
    accept("set sched other sched_log = /tmp/no_such_folder");
    EXPECT_TRUE(says_of_itself("comment", "Unable to change the sched_log directory")) << why("");
    EXPECT_TRUE(says_of_itself("scheduling", "False"));
    site->ok("mkdir /var/spool/pbs/other_logs");
    accept("set sched other sched_log = /var/spool/pbs/other_logs");
    EXPECT_TRUE(says_of_itself("comment", attribute_in("", "comment"))) << why("");
}

TEST_P(OpenpbsScheduling, AJobThatMayDoWithLessWalltimeEndsAtTheReservation) {
    const Output said = site->sh(
        "cd /; $stock/pbs_rsub -R $(date -d '+2 hour' +%y%m%d%H%M.%S) -D 600 -I 60 -l select=1:ncpus=2",
        "una");
    ASSERT_THAT(said.out, HasSubstr(" CONFIRMED")) << said;
    const std::string waits = submit("-l select=1:ncpus=1 -l walltime=3:00:00");
    expect_comment(waits, "Not Running");
    const std::string job = submit("-l select=1:ncpus=1 -l min_walltime=1:00:00 -l max_walltime=10:00:00");
    expect_state(job, "R");
    EXPECT_THAT(attribute(job, "Resource_List.walltime"),
                ::testing::AnyOf(::testing::StartsWith("01:59:"), "02:00:00"));
    // Without the reservation the job gets its max_walltime.
    site->ok("$stock/pbs_rdel " + said.out.substr(0, said.out.find(' ')), "una");
    expect_state(waits, "R");
    site->ok("$stock/qdel " + waits, "una");
    const std::string longest =
        submit("-l select=1:ncpus=1 -l min_walltime=1:00:00 -l max_walltime=10:00:00");
    expect_state(longest, "R");
    EXPECT_EQ(attribute(longest, "Resource_List.walltime"), "10:00:00");
}

// Other jobs can use the vnode once a job with place=excl is gone or suspended.
TEST_P(OpenpbsScheduling, AJobThatHasItsVnodeForItself) {
    const std::string first = submit("-l select=1:ncpus=1 -l place=excl -l walltime=20", 5);
    expect_state(first, "R");
    const std::string second = submit("-l select=1:ncpus=1 -l walltime=1:00:00");
    expect_comment(second, "Not Running");
    EXPECT_EQ(attribute(second, "job_state"), "Q");
    const Output said = site->sh("cd /; $stock/pbs_rsub -W qmove=" + second, "una");
    EXPECT_THAT(said.out, HasSubstr(" CONFIRMED")) << said;
    expect_state(second, "R");
    site->ok("$stock/pbs_rdel " + said.out.substr(0, said.out.find(' ')), "una");
    accept("set server restrict_res_to_release_on_suspend = mem");
    accept("create queue express queue_type=execution, enabled=True, started=True, Priority=200");
    const std::string victim = submit("-l select=1:ncpus=1 -l place=excl");
    expect_state(victim, "R");
    // Wait until mom has started the job: mom refuses to suspend a job that it is still starting.
    EXPECT_TRUE(wait_for([&] { return attribute(victim, "substate") == "42"; }, kLong)) << why(victim);
    const std::string express = submit("-q express -l select=1:ncpus=1");
    expect_state(express, "R");
    expect_state(victim, "S");
    site->ok("$stock/qdel " + express, "una");
    expect_state(victim, "R");
}

// For each value of job_run_wait the scheduler sends another type of request. Without runjob hooks it doesn't
// wait for hooks.
TEST_P(OpenpbsScheduling, job_run_wait_SaysForWhatOfAStartTheSchedulerWaits) {
    const auto requests = [&](int type) {
        return site->logged("server", "Type " + std::to_string(type) + " request received from Scheduler");
    };
    const auto expect_request = [&](const std::string& wait, int type) {
        SCOPED_TRACE(wait);
        accept("set sched default job_run_wait = " + wait);
        const auto before = requests(type);
        const std::string job = submit("-l select=1:ncpus=2");
        expect_state(job, "R");
        EXPECT_TRUE(wait_for([&] { return requests(type) == before + 1; }, kLong)) << why(job);
        site->ok("$stock/qdel " + job, "una");
    };
    expect_request("none", 23);
    expect_request("runjob_hook", 23);
    expect_request("execjob_hook", 15);
    site->ok(
        "cd /; echo import pbs > /tmp/nothing.py; $stock/qmgr -c 'create hook nothing event=runjob' && "
        "$stock/qmgr "
        "-c 'import hook nothing application/x-python default /tmp/nothing.py'");
    expect_request("runjob_hook", 97);
    expect_request("none", 23);
}

// The server itself gives each job that starts a comment, and would replace one of the scheduler.
TEST_P(OpenpbsScheduling, AStartNeedsNoRequestForItsComment) {
    const auto requests = [&] { return site->logged("server", "Type 96 request received from Scheduler"); };
    accept("set node box resources_available.ncpus = 20");
    int running = 0;
    for (const int jobs : {1, 12}) {  // few and many starts in one cycle
        accept("set server scheduling = False");
        for (int i = 0; i < jobs; ++i) submit();
        const int before = requests();
        accept("set server scheduling = True");
        running += jobs;
        EXPECT_TRUE(wait_for(
            [&] {
                return number_of(
                           site->ok("$stock/qstat -fw | grep -c 'comment = Job run at .* on (box:ncpus=1)' "
                                    "|| true")) == running;
            },
            kLong))
            << why("");
        EXPECT_EQ(requests(), before) << jobs;
    }
}

TEST_P(OpenpbsScheduling, attr_update_period_SaysHowOftenItIsToldWhatJobsWaitFor) {
    expect_state(submit("-l select=1:ncpus=1"), "R");
    accept("set sched default attr_update_period = 3600");
    expect_comment(submit("-l select=1:ncpus=2"), "Not Running");
    const std::string second = submit("-l select=1:ncpus=2");
    // When this job starts, the cycle has already found that the second job waits.
    expect_state(submit("-l select=1:ncpus=1"), "R");
    EXPECT_EQ(attribute(second, "comment"), attribute_in("", "comment"));
    accept("set sched default attr_update_period = 1");
    expect_comment(second, "Not Running");
}

// An array without waiting subjobs gains nothing by waiting, so its time is ineligible.
TEST_P(OpenpbsScheduling, AnArrayWhoseLastSubjobHasStartedIsIneligible) {
    accept("set server eligible_time_enable = True");
    const std::string array = submit("-J 1-2 -l select=1:ncpus=2");
    const auto accrues = [&](const std::string& type) {
        return wait_for([&] { return attribute(array, "accrue_type") == type; }, kLong);
    };
    EXPECT_TRUE(accrues("2")) << why(array);
    const std::string number = array.substr(0, array.find('['));
    site->ok("$stock/qdel '" + number + "[1]'", "una");
    expect_state(number + "[2]", "R");
    EXPECT_TRUE(accrues("1")) << why(array);
}

TEST_P(OpenpbsScheduling, ArraysRunSubjobBySubjob) {
    const std::string array = submit("-J 1-5%2 -l select=1:ncpus=1", 3);
    EXPECT_TRUE(wait_for([&] { return site->sh("$stock/qstat '" + array + "'").exit != 0; },
                         std::chrono::seconds(90)))
        << why(array);
    const std::string log = site->log();
    for (int i = 1; i <= 5; ++i)
        EXPECT_THAT(log, HasSubstr(array.substr(0, array.find('[')) + "[" + std::to_string(i) + "]"));
}

TEST_P(OpenpbsScheduling, SubjobsWithALimitedTimeStartTogetherOrNotAtAll) {
    accept("create resource start_within type = long");
    const auto array = [&](const std::string& indices, const std::string& within) {
        return submit("-J " + indices + " -l select=1:ncpus=1 -l start_within=" + within);
    };
    const std::string three = array("1-3", "0");
    EXPECT_TRUE(wait_for([&] { return site->sh("$stock/qstat '" + three + "'").exit != 0; }, kLong))
        << why(three);
    EXPECT_EQ(site->logged("server", "Job Run at request of Scheduler"), 0);
    const std::string soon = array("1-3", "3600");
    expect_comment(soon, "3 subjobs of the array start together, and 2 of them fit now");
    EXPECT_EQ(attribute(soon, "job_state"), "Q");
    accept("set node box resources_available.ncpus = 3");
    EXPECT_TRUE(wait_for([&] { return attribute(soon, "array_indices_remaining") == "-"; }, kLong))
        << why(soon);
    EXPECT_EQ(site->logged("server", "Job Run at request of Scheduler"), 3);
    accept("set node box resources_available.ncpus = 5");
    const std::string two = array("1-4%2", "0");
    EXPECT_TRUE(wait_for([&] { return attribute(two, "array_indices_remaining") == "3-4"; }, kLong))
        << why(two);
    // The others wait on, and start when they may.
    site->ok("$stock/qdel '" + two.substr(0, two.find('[')) + "[1]'", "una");
    EXPECT_TRUE(wait_for([&] { return attribute(two, "array_indices_remaining") == "4"; }, kLong))
        << why(two);
}

TEST_P(OpenpbsScheduling, SubjobsThatAreRunAgain) {
    const std::string array = submit("-J 1-2 -l select=1:ncpus=1");
    const auto runs = [&](int count) {
        return wait_for(
            [&] {
                return number_of(
                           site->sh("$stock/qstat -tf '" + array + "' | grep -c 'substate = 42'").out) ==
                       count;
            },
            kLong);
    };
    EXPECT_TRUE(runs(2)) << why(array);
    const auto starts = [&] { return site->logged("server", "Job Run at request of Scheduler"); };
    EXPECT_EQ(starts(), 2);
    site->ok("$stock/qrerun '" + array + "'");
    EXPECT_TRUE(wait_for([&] { return starts() == 4; }, kLong)) << why(array);
    EXPECT_TRUE(runs(2)) << why(array);
}

TEST_P(OpenpbsScheduling, SubjobsGoBeforeTheJobsBehindTheirArray) {
    accept("set server scheduling = False");
    const std::string array = submit("-J 1-2 -l select=1:ncpus=1");
    const std::string behind = submit("-l select=1:ncpus=1");
    accept("set server scheduling = True");
    EXPECT_TRUE(wait_for([&] { return attribute(array, "array_indices_remaining") == "-"; }, kLong))
        << why(array);
    expect_comment(behind, "Not Running");
    EXPECT_EQ(attribute(behind, "job_state"), "Q");
}

// The server preempts a job by the first method that preempt_order allows for it.
TEST_P(OpenpbsScheduling, JobsPreempt) {
    accept("create queue express queue_type=execution, enabled=True, started=True, Priority=200");
    accept("set policy default_policy preemption=True");
    for (const auto& [methods, state, comment] : {std::tuple{"S", "S", "Preempted by suspension"},
                                                  {"CR", "Q", "Preempted by requeuing"},
                                                  {"D", "", ""}}) {
        SCOPED_TRACE(methods);
        accept(std::string("set policy default_policy preempt_order=") + methods);
        const std::string victim = submit("-l select=1:ncpus=2");
        expect_state(victim, "R");
        const std::string express = submit("-q express -l select=1:ncpus=2");
        expect_state(express, "R");
        EXPECT_EQ(attribute(victim, "job_state"), *state == '\0' ? "(none)" : state) << why(victim);
        if (*comment != '\0') expect_comment(victim, comment + std::string(" for job ") + express);
        site->ok("$stock/qdel " + express, "una");
        // The victim runs again. A suspended one goes on, a requeued one begins anew.
        if (*state != '\0') {
            expect_state(victim, "R");
            site->ok("$stock/qdel " + victim, "una");
        }
        EXPECT_TRUE(wait_for([&] { return site->sh("$stock/qstat | grep -q .").exit != 0; }, kLong));
    }
}

// If the only method fails, the job isn't preempted, and the job that needs its room waits.
TEST_P(OpenpbsScheduling, AJobThatCannotBePreemptedRunsOn) {
    accept("create queue express queue_type=execution, enabled=True, started=True, Priority=200");
    accept("set policy default_policy preemption=True");
    accept("set policy default_policy preempt_order=C");
    const std::string victim = submit("-l select=1:ncpus=2");
    expect_state(victim, "R");
    const std::string express = submit("-q express -l select=1:ncpus=2");
    expect_comment(express, "Not Running");
    EXPECT_TRUE(
        site->wait_for_log("can't be preempted for job " + express) ||
        site->sh("grep -q \"can't be preempted for job\" /var/spool/pbs/server_priv/policyd.log").exit == 0)
        << why(victim);
    EXPECT_EQ(attribute(victim, "job_state"), "R");
}

TEST_P(OpenpbsScheduling, ReservationsAreConfirmedKeptAndDenied) {
    const auto in = [](int seconds) {
        return "-R $(date -d '+" + std::to_string(seconds) + " sec' +%y%m%d%H%M.%S) ";
    };
    const auto reserve = [&](const std::string& options) {
        return stripped(site->sh("cd /; $stock/pbs_rsub " + options, "una").out);
    };
    const auto of_reservation = [&](const std::string& id, const std::string& name) {
        return attribute_in(site->sh("$stock/pbs_rstat -F " + id).out, name);
    };
    const std::string said = reserve(in(30) + "-D 60 -I 60 -l select=2:ncpus=1");
    ASSERT_THAT(said, HasSubstr(" CONFIRMED"));
    const std::string id = said.substr(0, said.find(' '));
    const std::string queue = id.substr(0, id.find('.'));
    EXPECT_EQ(of_reservation(id, "resv_nodes"), "(box:ncpus=1)+(box:ncpus=1)");
    EXPECT_THAT(reserve(in(60) + "-D 60 -I 60 -l select=1:ncpus=1"), HasSubstr(" DENIED"));
    EXPECT_THAT(reserve(in(7200) + "-D 60 -I 60 -l select=1:ncpus=3"), HasSubstr(" DENIED"));
    // Jobs that would overlap with the reservation don't start. Jobs in the reservation's queue don't start
    // before it begins.
    const std::string long_one = submit("-l select=1:ncpus=1 -l walltime=1:00:00");
    expect_comment(long_one, "Job would conflict with reservation or top job");
    const std::string own = submit("-l select=1:ncpus=2 -l walltime=30 -q " + queue, 5);
    expect_state(own, "R");
    EXPECT_EQ(of_reservation(id, "reserve_state"), "RESV_RUNNING");
    EXPECT_EQ(attribute(long_one, "job_state"), "Q");
    // The reservation can't be altered to fewer resources than its running jobs hold.
    EXPECT_THAT(site->sh("$stock/pbs_ralter -I 60 -l select=1:ncpus=1 " + id, "una").out,
                HasSubstr("DENIED"));
    EXPECT_TRUE(wait_for([&] { return attribute(own, "job_state") == "(none)"; }, kLong)) << why(own);
    EXPECT_THAT(site->sh("$stock/pbs_ralter -I 60 -l select=1:ncpus=1 -D 00:02:00 " + id, "una").out,
                HasSubstr("CONFIRMED"));
    site->ok("$stock/pbs_rdel " + id, "una");
    expect_state(long_one, "R");
}

TEST_P(OpenpbsScheduling, AReservationForAsSoonAsPossibleTakesItsJob) {
    const std::string first = submit("-l select=1:ncpus=2 -l walltime=20", 5);
    expect_state(first, "R");
    const std::string second = submit("-l select=1:ncpus=2 -l walltime=60");
    expect_comment(second, "Not Running");
    const Output said = site->sh("cd /; $stock/pbs_rsub -W qmove=" + second, "una");
    ASSERT_THAT(said.out, HasSubstr(" CONFIRMED")) << said;
    const std::string id = said.out.substr(0, said.out.find(' '));
    EXPECT_EQ(attribute(second, "queue"), id.substr(0, id.find('.')));
    const std::string shown = site->sh("$stock/pbs_rstat -F " + id).out;
    EXPECT_EQ(attribute_in(shown, "resv_nodes"), "(box:ncpus=2)");
    EXPECT_EQ(attribute_in(shown, "reserve_duration"), "60");
    // The reservation begins when the first job ends, so the second job starts.
    expect_state(second, "R");
}

TEST_P(OpenpbsScheduling, StandingReservationsAreConfirmedWithAllOfTheirTimes) {
    const auto reserve = [&](const std::string& options) {
        return site->sh(
            "cd /; PBS_TZID=Europe/Berlin $stock/pbs_rsub -R $(date -d '+1 hour' +%y%m%d%H%M.%S) -D 1800 "
            "-I 60 " +
                options,
            "una");
    };
    const Output made = reserve("-r 'FREQ=DAILY;COUNT=3' -l select=1:ncpus=2");
    const std::string& said = made.out;
    ASSERT_THAT(said, HasSubstr(" CONFIRMED")) << made;
    const std::string id = said.substr(0, said.find(' '));
    const std::string shown = site->sh("$stock/pbs_rstat -F " + id).out;
    EXPECT_EQ(attribute_in(shown, "reserve_count"), "3");
    // The standing reservation holds the vnode on the second day, so a reservation on that day is denied. On
    // the fourth day it isn't denied.
    const auto next_day = [&] {
        return site
            ->sh(
                "cd /; $stock/pbs_rsub -R $(date -d '+25 hour' +%y%m%d%H%M.%S) -D 60 -I 60 -l "
                "select=1:ncpus=1",
                "una")
            .out;
    };
    EXPECT_THAT(next_day(), HasSubstr(" DENIED"));
    EXPECT_THAT(reserve("-r 'FREQ=DAILY;COUNT=2' -l select=1:ncpus=1").out, HasSubstr(" DENIED"));
    EXPECT_THAT(site->sh("cd /; $stock/pbs_rsub -R $(date -d '+73 hour' +%y%m%d%H%M.%S) -D 60 -I 60 -l "
                         "select=1:ncpus=1",
                         "una")
                    .out,
                HasSubstr(" CONFIRMED"));
    // A job of two days would overlap with the reservation.
    const std::string job = submit("-l select=1:ncpus=1 -l walltime=48:00:00");
    expect_comment(job, "Job would conflict with reservation or top job");
    // One occurrence is altered; the other occurrences stay as they were.
    const Output altered = site->sh(
        "$stock/pbs_ralter -I 60 -R $(date -d '+90 min' +%y%m%d%H%M.%S) -E $(date -d '+91 min' "
        "+%y%m%d%H%M.%S) " +
            id,
        "una");
    EXPECT_THAT(altered.out, HasSubstr("CONFIRMED")) << altered;
    EXPECT_THAT(next_day(), HasSubstr(" DENIED"));
    const Output by_minutes = site->sh(
        "cd /; PBS_TZID=Europe/Berlin $stock/pbs_rsub -R $(date -d '+1 hour' +%y%m%d%H%M.%S) -D 30 -I 60 "
        "-r 'FREQ=MINUTELY;COUNT=2' -l select=1:ncpus=1",
        "una");
    EXPECT_THAT(by_minutes.out, HasSubstr(" CONFIRMED")) << by_minutes;
}

TEST_P(OpenpbsScheduling, ARunThatAHookRefusesIsTold) {
    site->ok(
        "cat > /tmp/h.py <<'END'\nimport pbs\ne = pbs.event()\n"
        "if str(e.job.Job_Name) == 'bad':\n    e.reject('not this one')\nEND\n"
        "$stock/qmgr -c 'create hook h'; $stock/qmgr -c 'set hook h event = runjob'; "
        "$stock/qmgr -c 'import hook h application/x-python default /tmp/h.py'");
    const std::string bad = submit("-N bad -l select=1:ncpus=2");
    expect_comment(bad, "not this one");
    // Other jobs can use the room of the refused job.
    const std::string good = submit("-N good -l select=1:ncpus=2");
    expect_state(good, "R");
    // When there is room, the refused job is tried again and refused again. After each refusal it waits twice
    // as long.
    site->ok("$stock/qdel " + good, "una");
    EXPECT_TRUE(wait_for([&] {
        return site->ok("$ours/pbs_explain " + bad).find("couldn't be run when that was tried last") !=
               std::string::npos;
    })) << site->sh("$ours/pbs_explain " + bad);
}

// If sending the comments takes longer than a cycle may last, the remaining comments are sent after the
// cycle. None is lost.
TEST_P(OpenpbsScheduling, ManyJobsAreToldWhatTheyWaitFor) {
    constexpr int kMany = 600;
    const auto told = [&](const char* text) {
        return number_of(site->ok(fmt::format("$stock/qstat -fw | grep -c 'comment = .*{}' || true", text)));
    };
    constexpr const char* kNoVnode = "Not enough free nodes available";  // one job fills the only vnode
    constexpr const char* kNoRoom = "T: 3)";
    const std::string first = submit("-l select=1:ncpus=2");
    expect_state(first, "R");
    site->ok(fmt::format("cd /; for i in $(seq {}); do echo sleep 1000 | $stock/qsub -l select=1:ncpus=2 "
                         "-o /dev/null -e /dev/null; done > /dev/null",
                         kMany),
             "una");
    EXPECT_TRUE(wait_for([&] { return told(kNoVnode) == kMany; }, kLong)) << told(kNoVnode);
    accept("set node box resources_available.ncpus = 3");
    site->ok("$stock/qdel " + first, "una");
    EXPECT_TRUE(wait_for([&] { return told(kNoRoom) == kMany - 1; }, kLong)) << told(kNoRoom);
    EXPECT_EQ(number_of(site->ok("$stock/qselect -s R | wc -l")), 1);
}

TEST_P(OpenpbsScheduling, GoesOnAfterRestartsAndCrashes) {
    const std::string runs = submit("-l select=1:ncpus=1");
    expect_state(runs, "R");
    const std::string waits = submit("-l select=1:ncpus=2");
    expect_comment(waits, "Not Running");
    // Only the server stops. The jobs go on.
    site->ok("$stock/qterm -t quick; sleep 1");
    site->start_with_plugin();
    EXPECT_TRUE(scheduled_by("pbs_policy"));
    EXPECT_TRUE(site->wait_for_node());
    expect_state(runs, "R");
    const std::string next = submit("-l select=1:ncpus=1");
    expect_state(next, "R");
    EXPECT_EQ(attribute(waits, "job_state"), "Q");
    // The server is killed.
    site->kill_server();
    site->start_with_plugin();
    EXPECT_TRUE(scheduled_by("pbs_policy"));
    expect_state(runs, "R");
    site->ok("$stock/qdel " + runs + " " + next, "una");
    expect_state(waits, "R");
    if (!beside()) return;
    // If the daemon is killed, its supervisor starts it again.
    site->ok("kill -9 $(pgrep -n -x pbs_policyd)");
    site->ok("$stock/qdel " + waits, "una");
    EXPECT_TRUE(scheduled_by("pbs_policy"));
    const std::string last = submit("-l select=1:ncpus=2");
    expect_state(last, "R");
    // Kill the supervisor, too, so that nobody starts the daemon again.
    site->ok("kill -9 $(pgrep -o -x pbs_policyd)");
    EXPECT_TRUE(scheduled_by("nobody"));
}

TEST_P(OpenpbsScheduling, StepsAsideForAnotherSchedulerAndForAPolicyOfAlgorithmExternal) {
    // pbs_sched is refused while the plugin is registered. The pbs_sched of 23.06.06 doesn't try again, so
    // start it again later.
    const std::string start = "$(dirname $stock)/sbin/pbs_sched";
    const std::string end =
        "pid=$(cat /var/spool/pbs/sched_priv/sched.lock); kill $pid; while kill -0 $pid; do sleep 0.1; done "
        "2>/dev/null";
    site->ok(start);
    accept("set policy default_policy algorithm = external");
    EXPECT_TRUE(scheduled_by("pbs_sched"));
    site->ok(end + "; " + start);
    const std::string first = submit("-l select=1:ncpus=2");
    expect_state(first, "R");
    EXPECT_TRUE(
        wait_for([&] { return site->sh("grep -q 'Job run' /var/spool/pbs/sched_logs/*").exit == 0; }, kLong));
    // pbs_sched is registered, so the plugin can't register.
    accept("set policy default_policy algorithm = standard");
    EXPECT_TRUE(scheduled_by("not by pbs_policy: another scheduler"))
        << site->ok("$ours/qmgr -c 'list sched'");
    site->ok(end);
    EXPECT_TRUE(scheduled_by("pbs_policy"));
    site->ok("$stock/qdel " + first, "una");
    const std::string second = submit("-l select=1:ncpus=2");
    expect_state(second, "R");
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsScheduling, kAttachments, attachment_name);

class OpenpbsSchedulingInstall : public OpenpbsTest {
  protected:
    void SetUp() override {
        OpenpbsTest::SetUp();
        if (!IsSkipped()) site.emplace();
    }
    std::optional<Site> site;
};

TEST_F(OpenpbsSchedulingInstall, PbsConfIsAsItWas) {
    const std::string before = site->ok("cat /etc/pbs.conf");
    site->install("--scheduler");
    EXPECT_THAT(site->ok("cat /etc/pbs.conf"), AllOf(HasSubstr(before), HasSubstr("PBS_POLICY_SCHEDULER=1")));
    EXPECT_THAT(site->ok("$ours/pbs_policy_install --openpbs --status"), HasSubstr("scheduler: pbs_policy"));
    // Without the option --scheduler, pbs_sched schedules again.
    site->install();
    EXPECT_EQ(site->ok("cat /etc/pbs.conf"), before);
    EXPECT_THAT(site->ok("$ours/pbs_policy_install --openpbs --status"), HasSubstr("scheduler: pbs_sched"));
    site->start_with_plugin();
    EXPECT_EQ(site->sh("pgrep -x pbs_sched").exit, 0);
    EXPECT_THAT(site->ok("$stock/qmgr -c 'list sched'"), Not(HasSubstr("scheduled_by")));
    site->stop();
    site->install("--scheduler");
    site->ok("$ours/pbs_policy_install --openpbs --remove");
    EXPECT_EQ(site->ok("cat /etc/pbs.conf"), before);
}

}  // namespace
}  // namespace pbs::e2e
