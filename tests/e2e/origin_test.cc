// Tests the Origin policy with running jobs: the order of jobs, limits, and how limits change at the end of
// prime time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Prime time is Monday to Friday, 08:00 to 17:00. The server's clock starts on a Monday at 10:00.
class Origin : public OriginServer {
  protected:
    void SetUp() override {
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({
            "create time_window office rrule='FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', start_time=0800, "
            "end_time=1700, "
            "type=prime",
            "set policy default_policy enforce_prime_time=True, prime_time_wallt_limit=02:00:00",
            "set node n1 resources_available.ncpus = 2",
        }));
    }
    void scheduling(bool on) const {
        ASSERT_TRUE(
            server.configure({std::string("set sched default scheduling=") + (on ? "True" : "False")}));
    }
    // Waits until these jobs have ended. Returns their ids in the order of their starts.
    std::vector<std::string> order(std::vector<std::string> ids) const {
        for (const std::string& id : ids) {
            EXPECT_TRUE(server.wait_job_state(id, "F", std::chrono::seconds(20)));
        }
        const std::string records = server.accounting();
        std::sort(ids.begin(), ids.end(), [&](const std::string& a, const std::string& b) {
            return records.find(";S;" + a + ";") < records.find(";S;" + b + ";");
        });
        return ids;
    }
};

TEST_F(Origin, PrimeTimeRunsShortJobsFirst) {
    scheduling(false);
    const std::string lengthy = server.submit("true\n", {"-l", "ncpus=2,walltime=01:00:00"});
    const std::string brief = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    scheduling(true);
    EXPECT_THAT(order({lengthy, brief}), ElementsAre(brief, lengthy));
}

// The minimal configuration in the guide: a submit queue and a batch queue. All other settings have their
// defaults.
class OriginMinimal : public OriginServer {
  protected:
    void SetUp() override {
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({
            "unset policy default_policy special_queue",
            "unset policy default_policy sort_by_past_usage",
            "unset policy default_policy avoid_fragmentation",
        }));
        running = submit("1", "00:30:00", "sleep 300\n");
        ASSERT_TRUE(server.wait_job_state(running, "R"));
    }
    std::string submit(const std::string& ncpus, const std::string& walltime, const std::string& script,
                       const std::string& queue = "submit") const {
        return server.submit(script, {"-q", queue, "-l", "ncpus=" + ncpus + ",walltime=" + walltime});
    }
    // Submits small jobs while a large one waits, and checks that the large one starts as soon as the running
    // job has ended.
    void starts_as_soon_as_possible(const std::string& large) const {
        std::vector<std::string> small;
        for (int i = 0; i < 3; ++i) {
            small.push_back(submit("1", "01:00:00", "sleep 300\n"));
            const std::string brief = submit("1", "00:05:00", "true\n");
            EXPECT_TRUE(server.wait_job_state(brief, "F")) << "it is over in time";
            EXPECT_EQ(server.job(small.back(), "comment"),
                      "Not Running: Job would conflict with reservation or top job");
        }
        EXPECT_EQ(server.job(large, "job_state"), "Q");
        const Output explained = server.command({"pbs_explain", large});
        EXPECT_THAT(explained.out, HasSubstr("is being drained for this job, until ")) << explained.err;
        ASSERT_EQ(server.command({"qdel", running}).exit, 0);
        EXPECT_TRUE(server.wait_job_state(large, "R"));
        for (const std::string& job : small) EXPECT_EQ(server.job(job, "job_state"), "Q");
    }
    std::string running;
};

TEST_F(OriginMinimal, TheHeadOfTheListStartsAsSoonAsRunningJobsEnd) {
    starts_as_soon_as_possible(submit("8", "00:10:00", "sleep 300\n"));
}

TEST_F(OriginMinimal, ASpecialJobStartsAsSoonAsRunningJobsEnd) {
    ASSERT_TRUE(server.configure({"set policy default_policy special_queue = special"}));
    const std::string head = submit("8", "00:10:00", "sleep 300\n");
    const std::string special = submit("8", "00:20:00", "sleep 300\n", "special");
    starts_as_soon_as_possible(special);
    EXPECT_EQ(server.job(head, "job_state"), "Q");
}

TEST_F(Origin, NonPrimeTimeRunsLargeJobsFirst) {
    NEEDS(injected_clock);
    server.set_clock(kMonday10 + 9 * 3600);  // the time is 19:00, after prime time
    ASSERT_TRUE(server.configure({"set node n1 resources_available.ncpus = 4"}));
    scheduling(false);
    const std::string small = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    const std::string large = server.submit("true\n", {"-l", "ncpus=4,walltime=01:00:00"});
    scheduling(true);
    EXPECT_THAT(order({small, large}), ElementsAre(large, small));
}

TEST_F(Origin, LimitsChangeAtTheBoundaryWithoutRestart) {
    NEEDS(injected_clock);
    // The limit applies to the part of a job that lies in prime time. With a limit of 1 s, the job starts at
    // 16:59:59, 1 s before the end of prime time.
    ASSERT_TRUE(server.configure({"set policy default_policy prime_time_wallt_limit=00:00:01"}));
    const std::string id = server.submit("true\n", {"-l", "walltime=04:00:00"});
    ASSERT_TRUE(wait_for([&] { return server.job(id, "comment") != "(none)"; }));
    EXPECT_THAT(server.job(id, "comment"), HasSubstr("Exceeds primetime walltime limit (00:00:01)"));
    EXPECT_EQ(server.job(id, "job_state"), "Q");
    EXPECT_EQ(server.attribute("sched default", "prime_time"), "True");
    EXPECT_THAT(server.attribute("sched default", "next_policy_change"),
                StartsWith("Mon Nov 23 17:00:00 2026"));
    const pid_t before = server.pid();
    server.set_clock(kMonday10 + 7 * 3600 - 4);
    EXPECT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_THAT(server.job(id, "comment"), StartsWith("Started on Mon Nov 23 16:59:59"));
    EXPECT_TRUE(wait_for([&] { return server.attribute("sched default", "prime_time") == "False"; }));
    // After prime time, no limit applies.
    const std::string next = server.submit("true\n", {"-l", "walltime=04:00:00"});
    EXPECT_TRUE(server.wait_job_state(next, "F"));
    EXPECT_EQ(server.pid(), before);
    EXPECT_TRUE(server.running());
}

TEST_F(Origin, ANonPrimePolicyTakesOverAtTheBoundary) {
    NEEDS(injected_clock);
    ASSERT_TRUE(server.configure({
        "create policy night algorithm=origin, submit_queue=submit, batch_queues=batch, comment='after "
        "hours'",
        "unset policy default_policy special_queue",
        "set policy default_policy batch_queues='special'",
        "set sched default policy='default_policy,np:night'",
    }));
    EXPECT_EQ(server.attribute("sched default", "active_policy"), "default_policy");
    server.set_clock(kMonday10 + 7 * 3600 - 1);
    EXPECT_TRUE(wait_for([&] { return server.attribute("sched default", "active_policy") == "night"; }));
    const std::string id = server.submit("true\n");
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_EQ(server.job(id, "queue"), "batch");
    EXPECT_THAT(server.log(), HasSubstr("night"));
}

TEST_F(Origin, SpecialJobsStartFirstAndSaySo) {
    scheduling(false);
    const std::string normal = server.submit("true\n", {"-l", "ncpus=2,walltime=00:05:00"});
    const std::string special = server.submit("true\n", {"-q", "special", "-l", "ncpus=2,walltime=04:00:00"});
    scheduling(true);
    EXPECT_THAT(order({normal, special}), ElementsAre(special, normal));
    EXPECT_THAT(server.job(special, "comment"), HasSubstr(of_host("(special access job)", "Job run at")));
}

TEST_F(Origin, AJobThatFitsNoQueueIsRejected) {
    const std::string id = server.submit("true\n", {"-l", "ncpus=64"});
    ASSERT_NE(id, "");
    EXPECT_TRUE(wait_for([&] {
        const Output seen = server.command({"qstat", id});
        return seen.exit != 0;
    })) << "it isn't queued any longer";
    EXPECT_THAT(server.accounting(), HasSubstr(of_host(";A;", ";D;") + id)) << "aborted";
}

TEST_F(Origin, AGroupWithoutAllocationIsRejectedAndItsOwnerTold) {
    const std::string before = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    ASSERT_TRUE(server.wait_job_state(before, "F"));
    const std::string group = server.job(before, "egroup");
    server.put("sched_priv/acct/allocations", "P= Last year = " + group + " = 0.0\n");
    server.put("sched_priv/acct/current", "someone " + group + " 3 12.5\n");
    ASSERT_TRUE(server.configure({"set policy default_policy sched_acct_dir=acct, enforce_allocation=True"}));
    const std::string id = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    const std::string told =
        "Job rejected: group " + group + " has used 12.500 node-hours of its allocation of 0.000 node-hours";
    const std::string record = of_host(";A;", ";D;") + id;
    EXPECT_TRUE(wait_for([&] { return server.accounting().find(record) != std::string::npos; }));
    // OpenPBS's server deletes the job and shows the reason in its comment.
    if (on_openpbs()) {
        EXPECT_THAT(server.job(id, "comment"), StartsWith(told));
        return;
    }
    EXPECT_THAT(server.log(), HasSubstr("By the scheduling policy: " + told));
    EXPECT_TRUE(wait_for([&] { return server.log().find("mail to ") != std::string::npos; }));
}

TEST_F(Origin, TheDedicatedTimeCommandIsObserved) {
    NEEDS(injected_clock);
    server.put("bin/schedule",
               "#!/bin/sh\n"
               "echo \"$1 11/23/2026 12:00-14:00 11/23/2026 All day outage\"\n");
    namespace fs = std::filesystem;
    fs::permissions(server.home() / "bin", fs::perms(0755));
    fs::permissions(server.home() / "bin/schedule", fs::perms(0755));
    ASSERT_TRUE(server.configure({"set policy default_policy enforce_prime_time=False",
                                  "set policy default_policy dedicated_time_cache_secs=60, "
                                  "enforce_dedicated_time=True, dedicated_time_command=" +
                                      (server.home() / "bin/schedule").string()}));
    const std::string into = server.submit("true\n", {"-l", "ncpus=2,walltime=03:00:00"});
    EXPECT_TRUE(wait_for([&] {
        return server.job(into, "comment") == "Would run into dedicated time at Mon Nov 23 12:00:00 2026";
    })) << server.job(into, "comment")
        << server.log();
    server.set_clock(kMonday10 + 4 * 3600);
    EXPECT_TRUE(server.wait_job_state(into, "F")) << "the dedicated time is over";
}

TEST_F(Origin, AWaitingJobSaysWhy) {
    const std::string first = server.submit("sleep 30\n", {"-l", "ncpus=2"});
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    const std::string second = server.submit("true\n", {"-l", "ncpus=2"});
    ASSERT_TRUE(wait_for([&] { return server.job(second, "comment") != "(none)"; }));
    EXPECT_EQ(server.job(second, "job_state"), "Q");
    EXPECT_EQ(server.command({"qdel", first}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(second, "F")) << "the end of a job starts a cycle";
}

TEST_F(Origin, WhoHasUsedLittleComesFirst) {
    if (!other())
        GTEST_SKIP() << "needs jobs of two users, and only root can submit them; this is user "
                     << runner().name;
    ASSERT_TRUE(
        server.configure({"set policy default_policy sort_by_past_usage=True, past_usage_charge=flat"}));
    const auto submit_as = [&](const User& user, const std::string& walltime) {
        const Output done =
            server.command_as(user, {"qsub", "-S", "/bin/sh", "-l", "ncpus=2,walltime=" + walltime},
                              {.input = "true\n", .folder = server.work()});
        EXPECT_EQ(done.exit, 0) << done;
        return done.out.substr(0, done.out.find('\n'));
    };
    const std::string used = submit_as(runner(), "00:30:00");  // charged 10, the flat charge for a job
    ASSERT_TRUE(server.wait_job_state(used, "F"));
    // The usage survives a restart of the server.
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    scheduling(false);
    const std::string heavy = submit_as(runner(), "00:10:00");
    const std::string light = submit_as(*other(), "00:10:00");
    scheduling(true);
    EXPECT_THAT(order({heavy, light}), ElementsAre(light, heavy));
}

TEST_F(Origin, TheSortedListIsDumped) {
    ASSERT_TRUE(server.configure({"set policy default_policy sorted_job_dumpfile=sortedjobs"}));
    const std::string first = server.submit("sleep 30\n", {"-l", "ncpus=2"});
    const std::string second = server.submit("true\n", {"-l", "ncpus=2"});
    EXPECT_TRUE(wait_for(
        [&] { return server.read("sched_priv/output/sortedjobs").find(second) != std::string::npos; }));
}

}  // namespace
}  // namespace pbs::e2e
