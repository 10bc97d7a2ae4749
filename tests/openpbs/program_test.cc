// Tests programs of a site that schedule for an OpenPBS server (algorithm = external, external_program =
// ifl): docs/fifo_scheduler.cc, which uses the C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "tests/openpbs/program_site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OpenpbsProgram : public ProgramSite {
  protected:
    bool logs(const std::string& text) const {
        return wait_for([&] { return log().find(text) != std::string::npos; }, kLong);
    }
    // Submits jobs, which end at once if they have no other script, in one call of a shell.
    void submit_many(int count, const std::string& script = "true") const {
        site->ok("cd /; for i in $(seq " + std::to_string(count) + "); do echo " + script +
                     " | $stock/qsub -o /dev/null -e /dev/null; done",
                 "una");
    }
    // Returns the ids in the server's accounting records of a kind, in their order, each with a space.
    std::string recorded(char kind) const {
        return site->ok(std::string("cat /var/spool/pbs/server_priv/accounting/* | grep ';") + kind +
                        ";' | cut -d';' -f3 | cut -d. -f1 | tr '\\n' ' '");
    }
    static std::multiset<std::string> all_of(const std::string& ids) {
        std::istringstream words(ids);
        return {std::istream_iterator<std::string>(words), {}};
    }
    // Returns the ids in the server's log of the jobs that it was told to start, in the order of the
    // requests.
    std::string requested() const {
        return site->ok(
            "cat /var/spool/pbs/server_logs/* | grep 'Job Run at request of' | cut -d';' -f5 | "
            "cut -d. -f1 | tr '\\n' ' '");
    }
    std::string numbers(int from, int to) const {
        std::string all;
        for (int number = from; number <= to; ++number) all += std::to_string(number) + " ";
        return all;
    }
};

TEST_P(OpenpbsProgram, NoJobStartsUntilAProgramIsThere) {
    // The plugin is registered as the server's scheduler, but decides nothing. pbs_sched gets no files. It
    // knows the second job by a query after the one in which it has learnt of the first job.
    const std::string first = submit();
    EXPECT_THAT(steps("ask " + first + " box"), HasSubstr("outcome="));
    const std::string second = submit();
    EXPECT_THAT(steps("ask " + second + " box"), HasSubstr("outcome="));
    EXPECT_EQ(attribute(first, "job_state"), "Q");
    EXPECT_EQ(site->sh("grep -l 'Made from the policies' /var/spool/pbs/sched_priv/*").exit, 1);
    start_program();
    expect_state(first, "R");
    expect_state(second, "R");
    const std::string third = submit();
    // A second program is refused, and so is a user who is no manager.
    EXPECT_THAT(site->refused("$ours/fifo_scheduler", "alice"),
                AllOf(StartsWith("fifo_scheduler: error 15230: alice@"),
                      HasSubstr(" has been registered as scheduler default since ")));
    EXPECT_THAT(site->refused("$ours/fifo_scheduler", "una"), HasSubstr("error 15007"));
    EXPECT_EQ(attribute(third, "job_state"), "Q");
    kill_program();
    site->ok("$stock/qdel " + first);
    EXPECT_TRUE(wait_for([&] { return site->sh("$stock/qstat " + first).exit != 0; }, kLong));
    EXPECT_EQ(attribute(third, "job_state"), "Q");
    accept("set policy default_policy algorithm = standard");
    expect_state(third, "R");
    EXPECT_TRUE(scheduled_by("pbs_policy"));
}

TEST_P(OpenpbsProgram, TestedStartsKeepToThePolicy) {
    accept("set queue workq max_run = [o:PBS_ALL=1]");
    start_program();
    const std::string first = submit();
    expect_state(first, "R");
    const std::string second = submit();
    EXPECT_TRUE(logs(second + ": error 15044: Queue workq job limit has been reached.")) << log();
    EXPECT_EQ(attribute(second, "job_state"), "Q");
    // pbs_explain gets the same answer, without a start.
    const Output asked = site->sh("$ours/pbs_explain --at box " + second, "alice");
    EXPECT_THAT(asked.out, HasSubstr("Queue workq job limit has been reached.")) << asked;
    EXPECT_NE(site->sh("$ours/pbs_explain --at box " + second, "una").exit, 0);
    EXPECT_THAT(site->sh("$ours/pbs_explain --at nowhere " + second, "alice").err, HasSubstr("nowhere"));
    site->ok("$stock/qdel " + first);
    expect_state(second, "R");
}

TEST_P(OpenpbsProgram, JobsStartInTheirOrderAndNoneTwice) {
    constexpr int kJobs = 40;
    for (int life = 0; life < 3; ++life) {
        start_program();
        submit_many(kJobs / 4);
        kill_program();
    }
    submit_many(kJobs / 4);
    start_program();
    EXPECT_TRUE(wait_for([&] { return recorded('E').size() >= numbers(0, kJobs - 1).size(); }, kLong))
        << log();
    EXPECT_EQ(requested(), numbers(0, kJobs - 1)) << log();
    EXPECT_EQ(all_of(recorded('S')), all_of(numbers(0, kJobs - 1))) << log();
    // The server is killed while jobs wait: the program ends, and another one goes on.
    accept("set node box resources_available.ncpus = 0");
    submit_many(5);
    site->kill_server();
    EXPECT_TRUE(wait_for([&] { return site->sh("pgrep -x fifo_scheduler").exit != 0; }, kLong));
    site->start_with_plugin();
    EXPECT_TRUE(scheduled_by("nobody since "));
    start_program();
    accept("set node box resources_available.ncpus = 2");
    EXPECT_TRUE(wait_for([&] { return recorded('E').size() >= numbers(0, kJobs + 4).size(); }, kLong))
        << log();
    EXPECT_EQ(requested(), numbers(0, kJobs + 4)) << log();
    EXPECT_EQ(all_of(recorded('S')), all_of(numbers(0, kJobs + 4))) << log();
}

TEST_P(OpenpbsProgram, OnlyAStartWithCheckTrueIsTested) {
    accept("set queue workq max_run = [o:PBS_ALL=1]");
    const std::string first = submit();
    const std::string second = submit();
    EXPECT_THAT(
        steps("checked " + first + " box checked " + second + " box"),
        AllOf(HasSubstr("checked " + first + " box: done\n"),
              HasSubstr("checked " + second + " box: 15044 Queue workq job limit has been reached.")));
    EXPECT_THAT(steps("checked " + second + " box", "una"), HasSubstr(" box: 15007"));
    EXPECT_THAT(steps("unchecked " + second + " box"), HasSubstr(" box: done\n"));
    expect_state(second, "R");
    EXPECT_THAT(steps("checked 17.box box ask 17.box box"),
                AllOf(HasSubstr("checked 17.box box: 15001"), HasSubstr("ask 17.box box: 15001")));
    // pbs_sched is to schedule: the plugin's records have no later jobs.
    accept("set policy default_policy external_program = pbs_sched");
    EXPECT_TRUE(scheduled_by("nobody: algorithm external leaves it to pbs_sched"));
    const std::string third = submit();
    const std::string no = " box: 15029 the policy of scheduler default leaves its jobs to pbs_sched";
    EXPECT_THAT(steps("checked " + third + " box ask " + third + " box"),
                AllOf(HasSubstr("checked " + third + no), HasSubstr("ask " + third + no)));
}

// A query between the test of a start and the start itself doesn't take the job's room back.
TEST_P(OpenpbsProgram, BurstsOfStartsTakeNoCpuTwice) {
    constexpr int kJobs = 30;
    start_program();
    submit_many(kJobs, "sleep 1");
    std::string most = "0";
    EXPECT_TRUE(wait_for(
        [&] {
            const std::string nodes = site->sh("$stock/pbsnodes -v box").out;
            most = std::max(most, attribute_in(nodes, "resources_assigned.ncpus"));
            return recorded('E').size() >= numbers(0, kJobs - 1).size();
        },
        2 * kLong))
        << log();
    EXPECT_EQ(most, "2") << log();
    EXPECT_EQ(all_of(recorded('S')), all_of(numbers(0, kJobs - 1))) << log();
}

// The plugin counts a job as running from its test on. When the server refuses the start, it takes that back.
TEST_P(OpenpbsProgram, AStartThatTheServerRefusesTakesNoRoom) {
    site->ok(
        "printf 'import pbs\\ne = pbs.event()\\nif e.job.Resource_List[\"ncpus\"] == 2: "
        "e.reject(\"no twos\")\\n' > /var/spool/no_twos.py; $stock/qmgr -c 'create hook no_twos "
        "event=runjob'; "
        "$stock/qmgr -c 'import hook no_twos application/x-python default /var/spool/no_twos.py'");
    start_program();
    const std::string refused = submit("-l select=1:ncpus=2");
    EXPECT_TRUE(logs(refused + ": error 15136: no twos")) << log();
    const std::string next = submit();
    expect_state(next, "R");
    EXPECT_EQ(attribute(refused, "job_state"), "Q");
}

// pbs_runjob() is answered only when the job's mom has taken it.
TEST_P(OpenpbsProgram, AStartWhoseClientLeavesKeepsItsRoom) {
    site->ok(
        "printf 'import time\\ntime.sleep(10)\\n' > /var/spool/slow.py; $stock/qmgr -c 'create hook slow "
        "event=execjob_begin'; $stock/qmgr -c 'import hook slow application/x-python default "
        "/var/spool/slow.py'");
    EXPECT_TRUE(
        wait_for([&] { return site->sh("test -e /var/spool/pbs/mom_priv/hooks/slow.PY").exit == 0; }, kLong));
    const std::string first = submit("-l select=1:ncpus=2");
    const std::string second = submit("-l select=1:ncpus=2");
    begin_steps("/tmp/waited", "waited " + first + " box");
    expect_state(first, "R");
    site->ok("kill -9 $(pgrep -x scheduler_progr)");
    EXPECT_EQ(site->ok("cat /tmp/waited"), "") << "mom has taken the job too soon";
    EXPECT_THAT(steps("checked " + second + " box"), HasSubstr(" box: 15044 "));
    EXPECT_EQ(attribute(first, "job_state"), "R");
    // The plugin gives the room free with the job's end: it doesn't take the start for one under way.
    site->ok("$stock/qdel -W force " + first);
    EXPECT_TRUE(wait_for(
        [&] { return steps("checked " + second + " box").find(" box: done") != std::string::npos; }, kLong))
        << why(second);
}

TEST_P(OpenpbsProgram, ARegistrationOutlivesTheDaemon) {
    if (!beside()) GTEST_SKIP() << "the service ends with the server";
    start_program();
    site->ok("kill -9 $(pgrep -n -x pbs_policyd)");
    expect_state(submit(), "R");
    EXPECT_TRUE(scheduled_by("alice@")) << log();
    kill_program();
}

TEST_P(OpenpbsProgram, AProgramIsRefusedWhereThePolicyNamesPbsSched) {
    accept("set policy default_policy external_program = pbs_sched");
    EXPECT_TRUE(scheduled_by("nobody: algorithm external leaves it to pbs_sched"));
    EXPECT_THAT(site->refused("$ours/fifo_scheduler", "alice"),
                AllOf(HasSubstr("error 15029"), HasSubstr("external_program = ifl")));
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsProgram, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e
