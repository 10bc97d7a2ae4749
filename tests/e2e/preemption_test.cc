// Tests preemption on a running server: jobs are stopped and continued, requeued, deleted or checkpointed. A
// crash of the server in between doesn't change the outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Preemption : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "create queue express queue_type=execution, enabled=True, started=True, Priority=150",
            "set server default_queue=work, job_history_enable=True",
            "create node n1 resources_available.ncpus=4",
        }));
    }
    std::string job(const std::string& queue, const std::string& script = "sleep 300\n",
                    std::vector<std::string> more = {}) const {
        std::vector<std::string> options = {"-q", queue, "-l", "ncpus=4,walltime=1:00:00"};
        options.insert(options.end(), more.begin(), more.end());
        return server.submit(script, options);
    }
    void order(const std::string& methods) const {
        ASSERT_TRUE(server.configure({"set policy default_policy preempt_order='" + methods + "'"}));
    }
    // Returns a job script that adds a line to the file `name` every tenth of a second.
    std::string counter(const std::string& name) const {
        return "while :; do echo x >> " + (server.work() / name).string() + "; sleep 0.1; done\n";
    }
    std::uintmax_t counted(const std::string& name) const {
        std::error_code none;
        const auto size = std::filesystem::file_size(server.work() / name, none);
        return none ? 0 : size;
    }
    // Returns whether the file of a counter() script grows, which shows that the job runs.
    bool counts(const std::string& name) const {
        const auto before = counted(name);
        return wait_for([&] { return counted(name) > before; }, std::chrono::seconds(3));
    }
    void delete_now(const std::string& id) const {
        EXPECT_EQ(server.command({"qdel", "-W", "force", id}).exit, 0);
        EXPECT_TRUE(server.wait_job_state(id, "F"));
    }

    Server server;
};

TEST_F(Preemption, ASuspendedJobStopsAndGoesOn) {
    const std::string victim = job("work", counter("ticks"));
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    ASSERT_TRUE(wait_for([&] { return counted("ticks") > 0; }));
    const std::string express = job("express");
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_EQ(server.job(victim, "job_state"), "S");
    EXPECT_EQ(server.job(victim, "comment"), "Not Running: Preempted by suspension for job " + express);
    // OpenPBS shows sched_preempted to nobody.
    EXPECT_EQ(server.job(victim, "sched_preempted") == "(none)", on_openpbs());
    EXPECT_THAT(server.accounting(), HasSubstr(";z;" + victim));
    EXPECT_FALSE(counts("ticks")) << "its processes have stopped";
    // OpenPBS refuses to send a signal to a suspended job.
    EXPECT_EQ(server.command({"qsig", "-s", "CONT", victim}).exit, of_host(0, 168));
    // The bundled server doesn't let a manager resume a preempted job; OpenPBS does.
    if (!on_openpbs()) EXPECT_NE(server.command({"qsig", "-s", "resume", victim}).exit, 0);
    EXPECT_FALSE(counts("ticks")) << "that is the scheduler's to say";

    delete_now(express);
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    EXPECT_TRUE(counts("ticks"));
    EXPECT_EQ(server.job(victim, "sched_preempted"), "(none)");
    EXPECT_THAT(server.accounting(), HasSubstr(";r;" + victim));
    delete_now(victim);
}

// The plugin reuses the array's handle for the first subjob. So preempting this subjob has to find it by that
// handle.
TEST_F(Preemption, SubjobsAreSuspendedAndGoOn) {
    const std::string array = server.submit("sleep 300\n", {"-q", "work", "-J", "1-2", "-l", "ncpus=2"});
    const auto subjob = [&](const char* index) {
        return array.substr(0, array.find('[') + 1) + index + array.substr(array.find(']'));
    };
    for (const char* index : {"1", "2"}) {
        ASSERT_TRUE(server.wait_job_state(subjob(index), "R"));
        // Wait until the job has a session, as OpenPBS would requeue a job that is just starting.
        ASSERT_TRUE(wait_for([&] { return server.job(subjob(index), "session_id") != "(none)"; }));
    }
    const std::string express = job("express");
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_TRUE(server.wait_job_state(subjob("1"), "S"));
    EXPECT_TRUE(server.wait_job_state(subjob("2"), "S"));
    server.kill9();
    ASSERT_TRUE(server.start());
    delete_now(express);
    EXPECT_TRUE(server.wait_job_state(subjob("1"), "R"));
    EXPECT_TRUE(server.wait_job_state(subjob("2"), "R"));
    delete_now(array);
}

TEST_F(Preemption, ASuspendedJobSurvivesACrash) {
    const std::string victim = job("work", counter("ticks"));
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    ASSERT_TRUE(wait_for([&] { return counted("ticks") > 0; }));
    const std::string express = job("express");
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(victim, "job_state"), "S");
    EXPECT_EQ(server.job(express, "job_state"), "R");
    EXPECT_FALSE(counts("ticks"));
    delete_now(express);
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    EXPECT_TRUE(counts("ticks"));
    delete_now(victim);
}

TEST_F(Preemption, ItsWalltimeStandsStill) {
    const std::string victim = server.submit(counter("ticks"), {"-q", "work", "-l", "ncpus=4,walltime=5"});
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    ASSERT_TRUE(wait_for([&] { return counted("ticks") > 0; }));
    const std::string express = server.submit("sleep 7\n", {"-q", "express", "-l", "ncpus=4"});
    ASSERT_TRUE(server.wait_job_state(express, "F"));
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    EXPECT_TRUE(counts("ticks")) << "it has more of its five seconds left";
    EXPECT_TRUE(server.wait_job_state(victim, "F")) << "but not for ever";
    EXPECT_EQ(server.job(victim, "Exit_status"), "-29");
}

TEST_F(Preemption, AJobThatIsRequeuedRunsAgain) {
    order("R");
    const std::string victim = job("work");
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    const std::string express = job("express");
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_TRUE(server.wait_job_state(victim, "Q"));
    EXPECT_THAT(server.job(victim, "comment"),
                StartsWith("Not Running: Preempted by requeuing for job " + express));
    EXPECT_THAT(server.accounting(), HasSubstr(";R;" + victim));
    delete_now(express);
    EXPECT_TRUE(server.wait_job_state(victim, "R"));
    EXPECT_EQ(server.job(victim, "run_count"), "2");
    delete_now(victim);
}

TEST_F(Preemption, AMethodThatIsNotForTheJobIsLeftOut) {
    order("CRD");
    const std::string victim = job("work", "sleep 300\n", {"-r", "n"});
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    const std::string express = job("express");
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_TRUE(server.wait_job_state(victim, "F"));
    EXPECT_THAT(server.accounting(), HasSubstr(";D;" + victim));
    delete_now(express);
}

// The victim takes some seconds to end. Until it has ended, the express job has its vnode but no processes.
TEST_F(Preemption, ACrashWhileAJobIsBeingPreempted) {
    order("D");
    ASSERT_TRUE(server.configure({"set queue work kill_delay=4"}));
    const std::string victim = job("work", "trap '' TERM\nwhile :; do sleep 0.2; done\n");
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    ASSERT_TRUE(wait_for([&] { return server.job(victim, "session_id") != "(none)"; }));
    const std::string express = job("express", counter("express"));
    ASSERT_TRUE(server.wait_job_state(victim, "E"));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(server.wait_job_state(victim, "F", std::chrono::seconds(25)));
    EXPECT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_TRUE(wait_for([&] { return counted("express") > 0; })) << server.log();
    EXPECT_EQ(server.job(express, "run_count"), "1");
    delete_now(express);
}

// The express job has its vnode but no processes yet: a victim is deleted for it, and takes some seconds to
// end.
struct Awaiting : Preemption {
    std::string victim, express;
    void SetUp() override {
        NEEDS(without_mom);
        Preemption::SetUp();
        order("D");
        ASSERT_TRUE(server.configure(
            {"set queue work kill_delay=15",
             "create queue first queue_type=execution, enabled=True, started=True, Priority=200"}));
        victim = server.submit("trap '' TERM\n" + counter("victim"), {"-q", "work", "-l", "ncpus=2"});
        ASSERT_TRUE(server.wait_job_state(victim, "R"));
        ASSERT_TRUE(wait_for([&] { return counted("victim") > 0; }));
        express = job("express");
        ASSERT_TRUE(server.wait_job_state(express, "R"));
        ASSERT_EQ(server.job(victim, "job_state"), "E");
        ASSERT_EQ(server.job(express, "session_id"), "(none)");
    }
    void TearDown() override { server.command({"qdel", "-W", "force", victim}); }
};

TEST_F(Awaiting, IsDeleted) {
    EXPECT_EQ(server.command({"qdel", express}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(express, "F"));
}

TEST_F(Awaiting, IsDeletedByForce) {
    delete_now(express);
}

TEST_F(Awaiting, IsQueuedAgain) {
    EXPECT_EQ(server.command({"qrerun", express}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(express, "Q"));
    delete_now(express);
}

TEST_F(Awaiting, MakesRoomItselfAtOnce) {
    const std::string first = server.submit("sleep 300\n", {"-q", "first", "-l", "ncpus=2"});
    EXPECT_TRUE(server.wait_job_state(first, "R"));
    EXPECT_EQ(server.job(express, "job_state"), "Q");
    EXPECT_TRUE(wait_for([&] { return server.job(first, "session_id") != "(none)"; }));
    EXPECT_EQ(server.job(victim, "job_state"), "E") << "it wasn't waited for";
    delete_now(first);
    EXPECT_TRUE(server.wait_job_state(express, "R", std::chrono::seconds(25)));
    delete_now(express);
}

TEST_F(Awaiting, IsDeletedAlthoughTheServerDies) {
    // The server is killed after it has marked the job as deleted, and before the job has ended.
    EXPECT_EQ(server.command({"qdel", "-W", "force", express}).exit, 0);
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(server.wait_job_state(express, "F"));
}

TEST_F(Preemption, ACheckpointIsWrittenByTheProgramOfTheSite) {
    NEEDS(without_mom);
    const std::string program = (server.work() / "checkpoint").string();
    const std::string written = (server.work() / "written").string();
    {
        std::ofstream(program) << "#!/bin/sh\necho \"$1\" > " << written << "\n";
        ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    }
    server.put("mom_priv/config", "$action checkpoint_abort 30 !" + program + " %jobid %path\n");
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    order("C");
    const std::string victim = job("work");
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    ASSERT_TRUE(wait_for([&] { return server.job(victim, "session_id") != "(none)"; }));
    const std::string express = job("express");
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_TRUE(server.wait_job_state(victim, "Q"));
    std::string line;
    std::ifstream(written) >> line;
    EXPECT_EQ(line, victim);
    EXPECT_THAT(server.accounting(), HasSubstr(";C;" + victim));
    delete_now(express);
    delete_now(victim);
}

// The server crashes while a checkpoint is written. The checkpoint may be incomplete, so it counts as failed.
TEST_F(Preemption, ACrashWhileACheckpointIsWritten) {
    NEEDS(without_mom);
    server.put("mom_priv/config", "$action checkpoint_abort 300 !/bin/sleep 60\n");
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    order("CS");
    const std::string victim = job("work", counter("ticks"));
    ASSERT_TRUE(wait_for([&] { return counted("ticks") > 0; }));
    const std::string express = job("express", counter("express"));
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_EQ(server.job(victim, "job_state"), "R");
    EXPECT_EQ(counted("express"), 0U) << "it waits for the checkpoint";
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(server.wait_job_state(victim, "S"));
    EXPECT_TRUE(wait_for([&] { return counted("express") > 0; }));
    delete_now(express);
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    EXPECT_TRUE(counts("ticks"));
    delete_now(victim);
}

// The victim is chosen when it has no processes yet that could be stopped. It is suspended as soon as it has
// some.
TEST_F(Preemption, AJobThatHasJustBeenStartedIsPreemptedOnceItRuns) {
    order("S");
    const std::string victim = job("work");
    const std::string express = job("express");
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_TRUE(server.wait_job_state(victim, "S")) << server.job(victim, "comment");
    delete_now(express);
    EXPECT_TRUE(server.wait_job_state(victim, "R"));
    delete_now(victim);
}

TEST_F(Preemption, ResourcesThatASuspendedJobKeeps) {
    ASSERT_TRUE(server.configure(
        {"set node n1 resources_available.mem=8gb", "set server restrict_res_to_release_on_suspend=ncpus"}));
    order("S");
    const std::string victim = server.submit(
        "sleep 300\n", {"-q", "work", "-l", "select=1:ncpus=4:mem=6gb", "-l", "walltime=1:00:00"});
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    const std::string large =
        server.submit("sleep 300\n", {"-q", "express", "-l", "select=1:ncpus=4:mem=6gb"});
    const std::string small =
        server.submit("sleep 300\n", {"-q", "express", "-l", "select=1:ncpus=4:mem=2gb"});
    ASSERT_TRUE(server.wait_job_state(small, "R"));
    EXPECT_TRUE(server.wait_job_state(victim, "S")) << "once it runs";
    EXPECT_EQ(server.job(large, "job_state"), "Q");
    delete_now(small);
    EXPECT_TRUE(server.wait_job_state(victim, "R"));
    delete_now(large);
    delete_now(victim);
}

TEST_F(Preemption, AProgramThatFailsIsFollowedByTheNextMethod) {
    NEEDS(without_mom);
    server.put("mom_priv/config", "$action checkpoint_abort 30 !/bin/false\n");
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    order("CS");
    const std::string victim = job("work");
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    ASSERT_TRUE(wait_for([&] { return server.job(victim, "session_id") != "(none)"; }));
    const std::string express = job("express");
    EXPECT_TRUE(server.wait_job_state(victim, "S"));
    EXPECT_TRUE(server.wait_job_state(express, "R"));
    EXPECT_THAT(server.log(), HasSubstr("preemption by checkpointing failed"));
    delete_now(express);
    delete_now(victim);
}

TEST_F(Preemption, IsExplained) {
    const std::string victim = job("work");
    ASSERT_TRUE(server.wait_job_state(victim, "R"));
    ASSERT_TRUE(server.configure({"set server scheduling=False"}));
    const std::string express = job("express");
    ASSERT_TRUE(server.configure({"set server scheduling=True"}));
    ASSERT_TRUE(server.wait_job_state(express, "R"));
    const std::string other = job("express");
    EXPECT_TRUE(wait_for([&] {
        return server.command({"pbs_explain", other})
                   .out.find("it preempts no job: no job of a lower preemption level runs") !=
               std::string::npos;
    }));
    delete_now(express);
    delete_now(other);
    delete_now(victim);
}

}  // namespace
}  // namespace pbs::e2e
