// Tests programs of a site that schedule for an OpenPBS server while the policy service hangs, ends or can't
// be started, or pbs_sched is registered in its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/openpbs/program_site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OpenpbsProgramFaults : public ProgramSite {
  protected:
    void install() const override {
        ProgramSite::install();
        site->preload_faults();
    }
    // Returns the lines of the policy service.
    std::string service_log() const {
        return site->sh("cat /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd.log 2>/dev/null")
            .out;
    }
    // Makes the service hang, as it writes an object.
    void hang_service() const {
        site->begin_fault("stall");
        site->ok("setsid $ours/qmgr -c 'create policy hangs' > /dev/null 2>&1 < /dev/null &", "alice");
        EXPECT_TRUE(wait_for([&] { return site->sh("pgrep -x qmgr").exit == 0; }, kLong));
        site->ok("sleep 1");
    }
    // Ends the connection to the service at a request, so that the service begins anew.
    void cut_service() const {
        site->begin_fault("cut");
        EXPECT_NE(site->qmgr("list policy default_policy").exit, 0);
        EXPECT_NE(site->sh("test -e /var/spool/pbs/faults/cut").exit, 0);
    }
    bool service_answers() const {
        return wait_for([&] { return site->qmgr("list policy default_policy").exit == 0; }, kLong);
    }
    // Registers pbs_sched with the server, and stops it, so that it starts nothing. Then lets the plugin try
    // to register. No job may have room.
    void register_pbs_sched() const {
        accept("set policy default_policy external_program = pbs_sched");
        EXPECT_TRUE(scheduled_by("nobody: algorithm external leaves it to pbs_sched"));
        const int before = site->logged("server", "scheduler connected");
        site->ok("$(dirname $stock)/sbin/pbs_sched");
        EXPECT_TRUE(wait_for([&] { return site->logged("server", "scheduler connected") > before; }, kLong));
        site->ok("kill -STOP $(cat /var/spool/pbs/sched_priv/sched.lock)");
        accept("set policy default_policy external_program = ifl");
        EXPECT_TRUE(scheduled_by("not by pbs_policy: another scheduler")) << why("1");
    }
    void end_pbs_sched() const { site->ok("kill -9 $(cat /var/spool/pbs/sched_priv/sched.lock)"); }
};

// The server is busy when the answer to the test comes, until the request is late.
TEST_P(OpenpbsProgramFaults, AStartThatIsTooLateForTheServerTakesNoRoom) {
    site->ok(
        "printf 'import pbs, os, time\\nwhile os.path.exists(\"/tmp/busy\"): time.sleep(0.1)\\n' > "
        "/var/spool/busy.py; $stock/qmgr -c 'create hook busy event=queuejob'; $stock/qmgr -c 'import hook "
        "busy application/x-python default /var/spool/busy.py'");
    const std::string first = submit("-l select=1:ncpus=2");
    const std::string second = submit("-l select=1:ncpus=2");
    EXPECT_THAT(steps("ask " + first + " box ask " + second + " box"), Not(HasSubstr("15001")));
    hang_service();
    begin_steps("/tmp/late", "checked " + first + " box exit 0");
    site->ok("sleep 1; touch /tmp/busy; echo true | setsid $stock/qsub > /dev/null 2>&1 &", "una");
    site->ok("sleep 1");
    site->end_fault("stall");
    site->ok("sleep 2");
    site->begin_fault("later", 40);
    site->ok("rm /tmp/busy");
    EXPECT_THAT(said("/tmp/late"), HasSubstr("didn't answer in 30 seconds; nothing has been changed"));
    EXPECT_EQ(attribute(first, "job_state"), "Q");
    EXPECT_THAT(steps("checked " + second + " box"), HasSubstr("box: done"));
    expect_state(second, "R");
}

// The records have no jobs, or those of another time, while the server gives the plugin none.
TEST_P(OpenpbsProgramFaults, StartsWaitUntilThePluginKnowsTheJobs) {
    const std::string first = submit("-l select=1:ncpus=2");
    const std::string second = submit("-l select=1:ncpus=2");
    const std::string third = submit("-l select=1:ncpus=2");
    EXPECT_THAT(steps("ask " + second + " box ask " + third + " box checked " + first + " box"),
                HasSubstr("box: done"));
    const auto ends = [&](const std::string& job) {
        site->ok("$stock/qdel -W force " + job);
        return wait_for([&] { return site->sh("$stock/qstat " + job).exit != 0; }, kLong);
    };
    // The records have the first job as running.
    register_pbs_sched();
    EXPECT_TRUE(ends(first));
    begin_steps("/tmp/second", "checked " + second + " box exit 0");
    site->ok("sleep 2");
    EXPECT_EQ(site->ok("cat /tmp/second"), "");
    end_pbs_sched();
    EXPECT_THAT(said("/tmp/second"), HasSubstr("box: done")) << why(second);
    expect_state(second, "R");
    // The service begins anew, so that its records have no jobs.
    register_pbs_sched();
    EXPECT_TRUE(ends(second));
    cut_service();
    EXPECT_TRUE(service_answers());
    begin_steps("/tmp/third", "checked " + third + " box exit 0");
    site->ok("sleep 2");
    EXPECT_EQ(site->ok("cat /tmp/third"), "");
    end_pbs_sched();
    EXPECT_THAT(said("/tmp/third"), HasSubstr("box: done")) << why(third);
    expect_state(third, "R");
}

// The server notices the end of the connection while it waits for the answer to another request.
TEST_P(OpenpbsProgramFaults, AStartIsRefusedWhenTheServiceEnds) {
    const std::string job = submit();
    hang_service();
    begin_steps("/tmp/start", "checked " + job + " box exit 0");
    site->ok("sleep 1");
    site->begin_fault("cut");
    site->ok(
        "yes 'delete queue nowhere' | head -n 500 | setsid $stock/qmgr > /dev/null 2>&1 & sleep 1; rm "
        "/var/spool/pbs/faults/stall");
    EXPECT_THAT(said("/tmp/start"), HasSubstr("doesn't answer: "));
}

// The service is started anew, but can't start the plugin at first.
TEST_P(OpenpbsProgramFaults, ARegistrationOutlivesAStoreThatIsAway) {
    start_program();
    const std::string folder = "cd /var/spool/pbs/server_priv; ";
    site->ok(folder + "mkdir kept; mv policy.db* kept; mkdir policy.db");
    cut_service();
    const std::string why_not = "policy objects are not available: ";
    EXPECT_TRUE(wait_for(
        [&] { return site->qmgr("list sched default").out.find(why_not) != std::string::npos; }, kLong));
    // Another program learns at once why it can't register.
    EXPECT_THAT(steps("register poll"),
                AllOf(HasSubstr("register: 15010 " + why_not), HasSubstr("wait: 15010 " + why_not)));
    site->ok(folder + "rmdir policy.db; rm -f policy.db*; mv kept/* .");
    // The service tries again every half minute.
    EXPECT_TRUE(service_answers());
    EXPECT_TRUE(scheduled_by("alice@")) << why("1") << log();
    expect_state(submit(), "R");
}

TEST_P(OpenpbsProgramFaults, ARegistrationOutlivesARegistrationThatIsTooLate) {
    begin_steps("/tmp/program", "register until /tmp/again register hang");
    EXPECT_EQ(said("/tmp/program"), "register: done\n");
    EXPECT_TRUE(scheduled_by("alice@"));
    hang_service();
    site->ok("touch /tmp/again; sleep 1");
    site->begin_fault("later", 40);
    EXPECT_TRUE(wait_for(
        [&] { return said("/tmp/program").find("didn't answer in 30 seconds") != std::string::npos; },
        kLong));
    site->end_fault("stall");
    EXPECT_TRUE(service_answers());
    EXPECT_TRUE(scheduled_by("alice@")) << why("1");
    EXPECT_THAT(service_log(), Not(HasSubstr("is no longer registered")));
}

// The server doesn't tell of new jobs that are held, so that each of these starts needs a query. The service
// gets all of them at once.
TEST_P(OpenpbsProgramFaults, StartsOfUnknownJobsAllWaitForAQuery) {
    hang_service();
    std::vector<std::string> jobs;
    for (int i = 0; i < 3; ++i) jobs.push_back(submit("-h"));
    for (const std::string& job : jobs) begin_steps("/tmp/start." + job, "checked " + job + " box exit 0");
    site->ok("sleep 1");
    site->end_fault("stall");
    for (const std::string& job : jobs)
        EXPECT_THAT(said("/tmp/start." + job), HasSubstr("box: 15044 it is held"));
}

TEST_P(OpenpbsProgramFaults, AWaitForChangesEndsAtTheNextRequest) {
    EXPECT_EQ(site->ok(PBS_BUILD_DIR "/tests/bin/pipelined_requests 10.99.0.1 15001"), "2\n");
}

class OpenpbsProgramBusy : public ProgramSite {
  protected:
    void install() const override {
        const std::string folder = site->ok(
            "d=$(mktemp -d /var/spool/copyXXXXXX); chmod 755 $d; cp $ours/pbs_policy*.so $d; cd $d; mv "
            "pbs_policy.so real_policy.so; cp " PBS_BUILD_DIR
            "/tests/openpbs/busy_plugin.so pbs_policy.so; echo -n $d");
        site->install(std::string(GetParam()) + " --scheduler --library " + folder);
    }
};

TEST_P(OpenpbsProgramBusy, AStartThatCannotBeTestedIsToBeTriedAgain) {
    const std::string job = submit();
    EXPECT_THAT(steps("ask " + job + " box"), HasSubstr("outcome=starts"));
    site->ok("touch /var/spool/pbs/busy");
    const std::string again = " box: 15208 too much has changed\n";
    EXPECT_THAT(steps("checked " + job + " box ask " + job + " box"),
                AllOf(HasSubstr("checked " + job + again), HasSubstr("ask " + job + again)));
    site->ok("rm /var/spool/pbs/busy");
    EXPECT_THAT(steps("checked " + job + " box"), HasSubstr("box: done"));
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsProgramBusy, kAttachments, attachment_name);
INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsProgramFaults, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e
