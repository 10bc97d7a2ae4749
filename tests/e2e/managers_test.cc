// Tests which objects and attributes may be changed by managers other than root, by operators, and by other
// users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::AnyOf;
using ::testing::HasSubstr;

class Managers : public OriginServer {
  protected:
    void SetUp() override {
        if (!other())
            GTEST_SKIP() << "only root can run commands as different users; this is user " << runner().name;
        OriginServer::SetUp();
        manager = runner();
        user = *other();
        ASSERT_TRUE(server.configure({"set server managers += " + manager.name + "@*"}));
    }
    Output qmgr_as(const User& who, const std::string& directive) const {
        return server.command_as(who, {"qmgr", "-c", directive});
    }

    User manager;
    User user;
};

TEST_F(Managers, AManagerWithoutRootEditsEveryKindOfObject) {
    for (const char* directive :
         {"create policy p1", "set policy p1 by_queue=False", "create time_window t1",
          "set time_window t1 rrule='FREQ=DAILY', type=prime", "create fs_group f1",
          "set fs_group f1 decay_time=18:00:00", "set server non_work_days='12/25'",
          "set sched default policy='default_policy,p:p1'", "create queue q9 queue_type=execution",
          "set queue q9 time_window=t1", "unset queue q9 time_window", "delete queue q9",
          "set sched default policy=default_policy", "unset server non_work_days", "delete fs_group f1",
          "delete time_window t1"}) {
        const Output done = qmgr_as(manager, directive);
        EXPECT_EQ(done.exit, 0) << directive << ": " << done;
    }
}

TEST_F(Managers, SeesTheEffectInTheNextCycle) {
    ASSERT_EQ(qmgr_as(manager, "set sched default scheduling=False").exit, 0);
    const std::string id = server.submit("exit 0\n");
    ASSERT_NE(id, "");
    ASSERT_EQ(qmgr_as(manager, "set policy default_policy test_only=True").exit, 0);
    ASSERT_EQ(qmgr_as(manager, "set sched default scheduling=True").exit, 0);
    EXPECT_FALSE(server.wait_job_state(id, "RF", std::chrono::milliseconds(700)))
        << "test_only starts nothing";
    ASSERT_EQ(qmgr_as(manager, "set policy default_policy test_only=False").exit, 0);
    EXPECT_TRUE(server.wait_job_state(id, "F"));
}

// The server runs as root here. No setting of a manager may make it read or change root's files, or run
// root's programs.
TEST_F(Managers, NoPathThatAManagerSetsReachesFilesOfRoot) {
    const std::string program = "#!/bin/sh\n";
    const std::string days = "* of root\n";
    server.put("sched_priv/hpm_ctl", program);
    server.put("sched_priv/holidays", days);
    const std::string home = server.home().string();
    for (const std::string& directive :
         {"set policy default_policy schedule_log=" + home + "/sched_priv/hpm_ctl",
          std::string("set policy default_policy schedule_log=../hpm_ctl"),
          std::string("set policy default_policy sorted_job_dumpfile=/etc/pbs_test_of_managers"),
          std::string("set policy default_policy sorted_job_dumpfile=decay_usage")}) {
        const Output done = qmgr_as(manager, directive);
        EXPECT_NE(done.exit, 0) << directive;
        EXPECT_THAT(done.err, HasSubstr("expected")) << directive;
    }
    for (const char* directive : {"set policy default_policy schedule_log=hpm_ctl",
                                  "set policy default_policy sorted_job_dumpfile=holidays"}) {
        const Output done = qmgr_as(manager, directive);
        EXPECT_EQ(done.exit, 0) << done;
    }
    const std::string id = server.submit("exit 0\n");
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_TRUE(wait_for([&] {
        return server.read("sched_priv/output/hpm_ctl").find(";STARTING;") != std::string::npos &&
               std::filesystem::exists(server.home() / "sched_priv/output/holidays");
    }));
    EXPECT_EQ(server.read("sched_priv/hpm_ctl"), program);
    EXPECT_EQ(server.read("sched_priv/holidays"), days);

    // If a symbolic link replaces the folder for the outputs of programs, the server doesn't follow the link.
    std::filesystem::remove_all(server.home() / "sched_priv/output");
    std::filesystem::create_directory_symlink(server.home() / "sched_priv",
                                              server.home() / "sched_priv/output");
    ASSERT_TRUE(server.wait_job_state(server.submit("exit 0\n"), "F"));
    EXPECT_TRUE(wait_for([&] { return server.log().find("isn't written") != std::string::npos; }));
    EXPECT_EQ(server.read("sched_priv/hpm_ctl"), program);
    EXPECT_EQ(server.read("sched_priv/holidays"), days);
}

TEST_F(Managers, WhatNamesFoldersAndProgramsIsRootsToSet) {
    NEEDS(own_attributes);
    for (const std::string& directive :
         {std::string("set sched default sched_priv=/etc"),
          "set sched default sched_priv=" + server.work().string(),
          std::string("create sched night sched_priv=/etc"), std::string("set server mailer=/tmp/evil"),
          std::string("set server acl_roots=root@*")}) {
        const Output done = qmgr_as(manager, directive);
        EXPECT_NE(done.exit, 0) << directive;
        EXPECT_THAT(done.err, AnyOf(HasSubstr("expected"), HasSubstr("can only be set by root")))
            << directive;
    }
}

TEST_F(Managers, WhatIsNotActedOnIsSaidWhereItIsSet) {
    EXPECT_EQ(qmgr_as(manager, "create policy p1").err, "");
    EXPECT_EQ(qmgr_as(manager, "set policy p1 by_queue=False").err, "");
    EXPECT_EQ(qmgr_as(manager, "create fs_group f1").err, "");
    const Output set =
        qmgr_as(manager, "set policy p1 fairshare_group=f1, fairshare=True, server_host=fermi");
    EXPECT_EQ(set.exit, 0);
    EXPECT_EQ(set.err,
              "qmgr: Warning: policy p1: server_host has no effect: the scheduler is part of the "
              "server\n");
    EXPECT_THAT(server.command({"qmgr", "-c", "help policy server_host"}).out,
                HasSubstr("Has no effect: the scheduler is part of the server."));
}

TEST_F(Managers, AMisspelledAttributeIsGuessed) {
    EXPECT_THAT(qmgr_as(manager, "set policy default_policy strict_odering=True").err,
                HasSubstr("did you mean strict_ordering?"));
    EXPECT_THAT(qmgr_as(manager, "set queue batch max_runing=1").err, HasSubstr("did you mean max_running?"));
    EXPECT_THAT(qmgr_as(manager, "create queue abcdefghijklmnop").err,
                HasSubstr(of_host("at most 15", "Queue name too long")));
}

TEST_F(Managers, AnotherUserIsRefusedAndMayStat) {
    for (const char* directive :
         {"create policy p1", "set policy default_policy by_queue=False", "create time_window t1",
          "create fs_group f1", "set server non_work_days='12/25'", "set sched default policy=default_policy",
          "delete policy default_policy", "set server managers += x@*", "create queue q9",
          "set queue batch started=False"}) {
        const Output done = qmgr_as(user, directive);
        EXPECT_NE(done.exit, 0) << directive;
        EXPECT_THAT(done.err, AnyOf(HasSubstr("15007"), HasSubstr("Unauthorized"))) << directive;
    }
    EXPECT_EQ(server.attribute("policy default_policy", "by_queue"), "True");
    const Output list = qmgr_as(user, "list policy default_policy");
    EXPECT_EQ(list.exit, 0) << list;
    EXPECT_THAT(list.out, HasSubstr("by_queue = True"));
    EXPECT_EQ(qmgr_as(user, "list sched default").exit, 0);
}

TEST_F(Managers, TakenBackIsTakenBack) {
    ASSERT_EQ(qmgr_as(manager, "create policy p1").exit, 0);
    ASSERT_TRUE(server.configure({"set server managers -= " + manager.name + "@*"}));
    EXPECT_NE(qmgr_as(manager, "create policy p2").exit, 0);
}

TEST_F(Managers, AnEnvironmentMakesNobodyAManager) {
    RunOptions pretending;
    pretending.environment = {{"USER", "root"}, {"LOGNAME", "root"}};
    const Output done = server.command_as(user, {"qmgr", "-c", "create policy p1"}, pretending);
    EXPECT_NE(done.exit, 0) << "the identity is the connection's";
}

TEST_F(Managers, OthersJobsAreTheirs) {
    const std::string id = server.submit("sleep 60\n", {"-h"});
    ASSERT_NE(id, "");
    EXPECT_NE(server.command_as(user, {"qdel", id}).exit, 0);
    EXPECT_NE(server.command_as(user, {"qrls", id}).exit, 0);
    EXPECT_NE(server.command_as(user, {"qrun", id}).exit, 0);
    EXPECT_EQ(server.job(id, "job_state"), "H");
    EXPECT_EQ(server.command_as(manager, {"qdel", id}).exit, 0);
}

}  // namespace
}  // namespace pbs::e2e
