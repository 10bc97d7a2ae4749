// The first start finds the files of an Origin scheduler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConfig =
    "# a site's configuration\n"
    "SUBMIT_QUEUE\t\tsubmit\n"
    "BATCH_QUEUES\t\tsmall,batch\n"
    "SPECIAL_QUEUE\t\tspecial\n"
    "ENFORCE_PRIME_TIME\tTrue\n"
    "PRIME_TIME_START\t08:00:00\n"
    "PRIME_TIME_END\t\t17:00:00\n"
    "PRIME_TIME_WALLT_LIMIT\t02:00:00\n"
    "SORT_BY_PAST_USAGE\tTrue\n"
    "DECAY_FACTOR\t\t0.75\n";
constexpr const char* kHolidays =
    "* Holidays\n"
    "1 Jan 1 New Year's Day\n"
    "359 Dec 25 Christmas Day\n";

TEST(Migration, GoodFilesBecomeObjects) {
    Server server;
    server.put("sched_priv/config", kConfig);
    server.put("sched_priv/holidays", kHolidays);
    ASSERT_TRUE(server.start());
    const std::string policy = server.attribute("sched default", "policy");
    ASSERT_NE(policy, "(none)");
    const std::string name = "policy " + policy.substr(0, policy.find(','));
    EXPECT_EQ(server.attribute(name, "algorithm"), "origin");
    EXPECT_EQ(server.attribute(name, "submit_queue"), "submit");
    EXPECT_EQ(server.attribute(name, "batch_queues"), "small,batch");
    EXPECT_EQ(server.attribute(name, "prime_time_wallt_limit"), "02:00:00");
    EXPECT_NE(server.attribute("server", "non_work_days"), "(none)");
    EXPECT_THAT(server.qmgr("list time_window @default").out + server.qmgr("print server").out,
                HasSubstr("prime"));
    EXPECT_EQ(server.attribute("sched default", "prime_time"), "True");
    EXPECT_EQ(server.attribute("sched default", "migration_error"), "(none)");
    EXPECT_THAT(server.read("server_priv/migration_report"), HasSubstr("PRIME_TIME_WALLT_LIMIT"));
    EXPECT_EQ(server.read("sched_priv/config"), kConfig) << "the files stay as they are";
}

TEST(Migration, ByHandIsRefusedWhileTheServerRuns) {
    Server server;
    ASSERT_TRUE(server.start());
    server.put("config", kConfig);
    const Output refused = server.command(
        {"pbs_migrate", "--into", server.home().string(), "--config", (server.home() / "config").string()});
    EXPECT_EQ(refused.exit, 2) << refused;
    EXPECT_THAT(refused.err, HasSubstr("a server runs on " + server.home().string()));
    EXPECT_EQ(server.attribute("policy default_policy", "algorithm"), "standard");
}

TEST(Migration, MigratedPolicySchedulesRealJobs) {
    Server server;
    server.put("sched_priv/config", kConfig);
    server.put("sched_priv/holidays", kHolidays);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({
        "create queue submit queue_type=execution, enabled=True, started=True",
        "create queue small queue_type=execution, enabled=True, started=True, resources_max.ncpus=2, "
        "resources_max.walltime=01:00:00",
        "create queue batch queue_type=execution, enabled=True, started=True, resources_max.ncpus=8, "
        "resources_max.walltime=12:00:00",
        "create queue special queue_type=execution, enabled=True, started=True",
        "set server default_queue=submit, job_history_enable=True",
        "create node n1 resources_available.ncpus=8, resources_available.mem=8gb",
    }));
    const std::string brief = server.submit("true\n", {"-l", "ncpus=2,walltime=00:10:00"});
    const std::string lengthy = server.submit("true\n", {"-l", "ncpus=4,walltime=04:00:00"});
    ASSERT_TRUE(server.wait_job_state(brief, "F"));
    EXPECT_EQ(server.job(brief, "queue"), "small");
    EXPECT_EQ(server.job(lengthy, "job_state"), "Q");
    server.set_clock(kMonday10 + 7 * 3600 - 1);
    ASSERT_TRUE(server.wait_job_state(lengthy, "F"));
    EXPECT_EQ(server.job(lengthy, "queue"), "batch");
}

TEST(Migration, LaterStartsMigrateNothing) {
    Server server;
    server.put("sched_priv/config", kConfig);
    server.put("sched_priv/holidays", kHolidays);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"set server non_work_days='07/04'"}));
    ASSERT_TRUE(server.stop());
    server.put("sched_priv/config", "SUBMIT_QUEUE other\nBATCH_QUEUES b\n");
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("server", "non_work_days"), "FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=4");
    const std::string policy = server.attribute("sched default", "policy");
    EXPECT_EQ(server.attribute("policy " + policy.substr(0, policy.find(',')), "submit_queue"), "submit");
}

TEST(Migration, ABadFileMigratesNothingAndIsNamed) {
    const std::pair<const char*, const char*> mistakes[] = {
        {"SUBMIT_QUEUE submit\nBATCH_QUEUES batch\nMAX_QUEUD_TIME 24:00:00\n", "MAX_QUEUD_TIME"},
        {"SUBMIT_QUEUE submit\nBATCH_QUEUES batch\nDECAY_FACTOR lots\n", "DECAY_FACTOR"},
        {"submit_queue submit\nBATCH_QUEUES batch\n", "submit_queue"},
    };
    for (const auto& [config, culprit] : mistakes) {
        Server server;
        server.put("sched_priv/config", config);
        ASSERT_TRUE(server.start()) << "the server starts with default_policy";
        EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy");
        EXPECT_EQ(server.attribute("policy default_policy", "algorithm"), "standard");
        EXPECT_THAT(server.attribute("sched default", "migration_error"), HasSubstr(culprit));
        EXPECT_THAT(server.log(), HasSubstr(culprit));
        EXPECT_THAT(server.read("server_priv/migration_report"), HasSubstr(culprit));
    }
}

TEST(Migration, IsRepeatedAfterACorrection) {
    Server server;
    server.put("sched_priv/config", "SUBMIT_QUEUE submit\nBATCH_QUEUES batch\nDECAY_FACTOR lots\n");
    ASSERT_TRUE(server.start());
    EXPECT_NE(server.attribute("sched default", "migration_error"), "(none)");
    ASSERT_TRUE(server.stop());
    server.put("sched_priv/config", kConfig);
    server.put("sched_priv/holidays", kHolidays);
    const Output done =
        server.command({"pbs_migrate", "--config", (server.home() / "sched_priv/config").string(),
                        "--holidays", (server.home() / "sched_priv/holidays").string()});
    ASSERT_EQ(done.exit, 0) << done;
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("sched default", "migration_error"), "(none)");
    EXPECT_EQ(server.attribute("sched default", "prime_time"), "True");
}

TEST(Migration, DryRunChangesNothing) {
    Server server;
    ASSERT_TRUE(server.start());
    server.put("site/config", kConfig);
    server.put("site/holidays", kHolidays);
    const Output done =
        server.command({"pbs_migrate", "--config", (server.home() / "site/config").string(), "--holidays",
                        (server.home() / "site/holidays").string(), "--dry-run"});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_THAT(done.out, HasSubstr("prime_time_wallt_limit"));
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy");
    EXPECT_EQ(server.attribute("policy default_policy", "algorithm"), "standard");
}

TEST(Migration, NothingToMigrateIsNoError) {
    Server server;
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy");
    EXPECT_EQ(server.attribute("sched default", "migration_error"), "(none)");
}

}  // namespace
}  // namespace pbs::e2e
