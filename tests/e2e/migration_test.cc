// Migrates the files of older schedulers, at a server's first start and later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

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
constexpr const char* kLegacyHolidays =
    "* Holidays\n"
    "1 Jan 1 New Year's Day\n"
    "359 Dec 25 Christmas Day\n";

TEST(Migration, GoodFilesBecomeObjects) {
    Server server;
    server.put("sched_priv/config", kConfig);
    server.put("sched_priv/holidays", kLegacyHolidays);
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
    if (!on_openpbs()) EXPECT_EQ(server.attribute("sched default", "prime_time"), "True") << "at ten";
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
    NEEDS(injected_clock);
    Server server;
    server.put("sched_priv/config", kConfig);
    server.put("sched_priv/holidays", kLegacyHolidays);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({
        "create queue submit queue_type=execution, enabled=True, started=True",
        ("create queue small queue_type=execution, enabled=True, started=True, resources_max.ncpus=2, "
         "resources_max.walltime=01:00:00"),
        ("create queue batch queue_type=execution, enabled=True, started=True, resources_max.ncpus=8, "
         "resources_max.walltime=12:00:00"),
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
    server.put("sched_priv/holidays", kLegacyHolidays);
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
    NEEDS(own_server);
    Server server;
    server.put("sched_priv/config", "SUBMIT_QUEUE submit\nBATCH_QUEUES batch\nDECAY_FACTOR lots\n");
    ASSERT_TRUE(server.start());
    EXPECT_NE(server.attribute("sched default", "migration_error"), "(none)");
    ASSERT_TRUE(server.stop());
    server.put("sched_priv/config", kConfig);
    server.put("sched_priv/holidays", kLegacyHolidays);
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
    server.put("site/holidays", kLegacyHolidays);
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

// ---- Migrations of the files of pbs_sched

constexpr const char* kLegacySchedConfig =
    "by_queue: True\tprime\nby_queue: False\tnon_prime\nfair_share: True\tALL\nunknown_shares: 10\n"
    "primetime_prefix: p_\nnonprimetime_prefix: np_\ndedicated_prefix: ded\n";
constexpr const char* kPbsHolidays =
    "YEAR 2026\nweekday 0600 1730\nsaturday none all\nsunday none all\n359 Dec 25 Christmas Day\n";

TEST(Migration, EveryFileOfPbs) {
    NEEDS(own_attributes);
    Server server;
    server.put("sched_priv/sched_config", kLegacySchedConfig);
    server.put("sched_priv/holidays", kPbsHolidays);
    server.put("sched_priv/dedicated_time", "04/15/2027 12:00 04/15/2027 15:30\n");
    server.put("sched_priv/resource_group", "grp1 50 root 10\nalice 60 grp1 5\n");
    server.put("sched_priv/qmgr_print",
               "create queue np_late queue_type = Execution\n"
               "set server backfill_depth = 3\n");
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("sched default", "migration_error"), "(none)");
    EXPECT_EQ(server.attribute("sched default", "policy"),
              "default_policy,p:default_policy_prime,np:default_policy_non_prime");
    EXPECT_EQ(server.attribute("policy default_policy_prime", "backfill_depth"), "3");
    EXPECT_EQ(server.attribute("fs_group default_fs_group", "tree_element"), "grp1:root=10,alice:grp1=5");
    EXPECT_EQ(server.attribute("time_window dedicated_time", "type"), "dedicated");
    EXPECT_EQ(server.attribute("server", "non_work_days"), "FREQ=YEARLY;BYYEARDAY=359 SUMMARY:Christmas Day");
    EXPECT_THAT(server.read("server_priv/migration_report"),
                HasSubstr("needs no yearly update (--infer uses it)"));
    // The older server's qmgr print has the queue np_late. The migration creates it and gives it its
    // execution type.
    EXPECT_EQ(server.attribute("queue np_late", "execution_type"), "execution_non_prime");
}

// Returns the output of OpenPBS's qmgr for a server with a node, a scheduler and a hook.
std::string print_of(const Server& server) {
    const std::string node = server.command({"hostname"}).out;
    const std::string host = node.substr(0, node.find_first_of(".\n"));
    return "#\n# Create resources and set their properties.\n#\ncreate resource lic\nset resource lic type = "
           "long\n"
           "set resource lic flag = q\ncreate resource color\nset resource color type = string\n"
           "set resource color flag = h\n"
           "create queue workq\nset queue workq queue_type = Execution\nset queue workq acl_user_enable = "
           "True\n"
           "set queue workq acl_users = +alice@*\nset queue workq acl_users += -bob\n"
           "set queue workq resources_max.ncpus = 64\nset queue workq resources_default.walltime = 01:00:00\n"
           "set queue workq max_run = [o:PBS_ALL=40]\nset queue workq max_run = [u:PBS_GENERIC=4]\n"
           "set queue workq enabled = True\nset queue workq started = True\n"
           "create queue p_fast\nset queue p_fast queue_type = Execution\nset queue p_fast Priority = 150\n"
           "set queue p_fast comment = \"the fast, and prime one # not a comment\"\n"
           "create queue routeq\nset queue routeq queue_type = Route\n"
           "set queue routeq route_destinations = workq\nset queue routeq route_destinations += p_fast\n"
           "set server managers = alice@*.example.org\nset server managers += root@*\n"
           "set server default_queue = workq\nset server resources_max.ncpus = 512\n"
           "set server scheduler_iteration = 300\nset server system_cost = 5000\n"
           "set server backfill_depth = 3\nset server job_history_duration = soon\n"
           "create node " +
           host + "\nset node " + host + " resources_available.color = blue\nset node " + host +
           " resources_available.ncpus = 16\n"
           "create node faraway\nset node faraway resources_available.ncpus = 8\n"
           "create sched default\nset sched sched_host = " +
           host +
           "\nset sched scheduling = False\n"
           "create hook h1\nset hook h1 event = queuejob\n"
           "import hook h1 application/x-python base64 -\naW1wb3J0IHBicwo=\n\n";
}

void expect_whole_server(const Server& server) {
    EXPECT_EQ(server.attribute("resource lic", "flag"), "q");
    EXPECT_EQ(server.attribute("queue workq", "acl_users"), "+alice@*,-bob");
    EXPECT_EQ(server.attribute("queue workq", "resources_max.ncpus"), "64");
    EXPECT_EQ(server.attribute("queue workq", "max_run"), "[o:PBS_ALL=40]");
    EXPECT_EQ(server.attribute("queue p_fast", "comment"), "the fast, and prime one # not a comment");
    EXPECT_EQ(server.attribute("queue p_fast", "execution_type"), "execution_prime");
    EXPECT_EQ(server.attribute("queue routeq", "route_destinations"), "workq,p_fast");
    EXPECT_THAT(server.attribute("server", "managers"), HasSubstr("alice@*.example.org"));
    EXPECT_EQ(server.attribute("server", "default_queue"), "workq");
    EXPECT_EQ(server.attribute("server", "resources_max.ncpus"), "512");
    EXPECT_EQ(server.attribute("sched default", "scheduling"), "False");
    EXPECT_EQ(server.attribute("policy default_policy", "backfill_depth"), "3");
    EXPECT_EQ(server.attribute("server", "backfill_depth"), "(none)");
    EXPECT_THAT(server.qmgr("list node @default").out,
                ::testing::AllOf(HasSubstr("resources_available.color = blue"), Not(HasSubstr("faraway"))));
    const std::string report = server.read("server_priv/migration_report");
    for (const char* line :
         {"set server system_cost = 5000: isn't carried over: system_cost is an attribute of OpenPBS only\n",
          "set server job_history_duration = soon: isn't carried over: ",
          "create node faraway: isn't carried over: the vnode is a part of another machine",
          ("set node faraway resources_available.ncpus = 8: isn't carried over: the vnode is a part of "
           "another machine"),
          "set sched default sched_host = ", "create hook h1: isn't carried over: this server has no hooks",
          "set hook h1 event = queuejob: isn't carried over", "import hook h1 application/x-python",
          "-> queue workq resources_max.ncpus = 64\n", "-> queue p_fast = (created)\n",
          "-> server managers = alice@*.example.org,root@*\n"})
        EXPECT_THAT(report, HasSubstr(line));
    EXPECT_THAT(report, Not(HasSubstr("aW1wb3J0")));
}

TEST(Migration, AWholeServerAtTheFirstStart) {
    NEEDS(own_attributes);
    Server server;
    server.put("sched_priv/sched_config", kLegacySchedConfig);
    server.put("sched_priv/qmgr_print", print_of(server));
    ASSERT_TRUE(server.start());
    expect_whole_server(server);
    // A value that is changed after the migration isn't migrated again at the next start.
    ASSERT_TRUE(server.configure({"set queue workq resources_max.ncpus = 32"}));
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("queue workq", "resources_max.ncpus"), "32");
    EXPECT_THAT(server.command({"pbs_config", "history"}).out,
                HasSubstr("what qmgr printed of the older server"));
}

// Older schedulers read the holidays file again after it was modified. This server instead reports a modified
// file until it is migrated.
TEST(Migration, AHolidaysFileThatChangesLaterIsToldUntilItIsTakenOver) {
    NEEDS(own_attributes);
    Server server;
    server.put("sched_priv/config", kConfig);
    server.put("sched_priv/holidays", kLegacyHolidays);
    ASSERT_TRUE(server.start());
    const std::string file = (server.home() / "sched_priv/holidays").string();
    EXPECT_THAT(server.attribute("sched default", "unsupported_settings"), Not(HasSubstr(file)));
    server.put("sched_priv/holidays", std::string(kLegacyHolidays) + "200 closed\n");
    const std::string command = "pbs_migrate --holidays " + file + " --server";
    EXPECT_THAT(server.attribute("sched default", "unsupported_settings"),
                HasSubstr(command + " takes it over"));
    EXPECT_THAT(server.attribute("server", "non_work_days"), Not(HasSubstr("BYYEARDAY=200")));
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    EXPECT_THAT(server.attribute("sched default", "unsupported_settings"), HasSubstr(command));
    const Output done = server.command({"pbs_migrate", "--holidays", file, "--server"});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_THAT(server.attribute("server", "non_work_days"), HasSubstr("BYYEARDAY=200"));
    EXPECT_THAT(server.attribute("sched default", "unsupported_settings"), Not(HasSubstr(file)));
    // The file is newer than the migration, with the same contents and then with others of the same size.
    server.put("sched_priv/holidays", std::string(kLegacyHolidays) + "200 closed\n");
    EXPECT_THAT(server.attribute("sched default", "unsupported_settings"), Not(HasSubstr(file)));
    server.put("sched_priv/holidays", std::string(kLegacyHolidays) + "201 closed\n");
    EXPECT_THAT(server.attribute("sched default", "unsupported_settings"), HasSubstr(command));
    EXPECT_EQ(server.command({"pbs_migrate", "--holidays", file, "--server"}).exit, 0);
    EXPECT_THAT(server.attribute("sched default", "unsupported_settings"), Not(HasSubstr(file)));
}

TEST(Migration, QueuesOfAnOriginConfigurationHaveOnePart) {
    Server server;
    server.put("sched_priv/config", "SUBMIT_QUEUE a\nBATCH_QUEUES b\nSPECIAL_QUEUE a\n");
    ASSERT_TRUE(server.start());
    EXPECT_THAT(server.attribute("sched default", "migration_error"),
                HasSubstr("SUBMIT_QUEUE: 'a' is in SPECIAL_QUEUE of line 3 too"));
    EXPECT_EQ(server.attribute("policy default_policy", "algorithm"), "standard");
    ASSERT_TRUE(server.configure({"create queue a queue_type=execution"}));
    const Output set =
        server.qmgr("set policy default_policy algorithm=origin, submit_queue=a, special_queue=a");
    EXPECT_NE(set.exit, 0);
    EXPECT_THAT(set.err, HasSubstr("submit_queue: bad value 'a': the queue is in special_queue too"));
}

// A dry run shows exactly the changes that the first start makes.
TEST(Migration, ADryRunShowsWhatTheFirstStartDoes) {
    NEEDS(own_attributes);
    Server server;
    server.put("sched_priv/sched_config", "by_queue: True\nresources: \"ncpus, mem, netwins\"\n");
    server.put("sched_priv/qmgr_print",
               "create queue batch\nset queue batch queue_type = Execution\n"
               "set queue batch resources_default.neednodes = gpu\nset queue batch resources_max.procct = 8\n"
               "set queue batch resources_max.procs = 8\nset queue batch resources_max.lic = 3\n"
               "set queue batch resources_max.ncpus = 8\nset queue batch max_queued = [u:ann=1]\n"
               "set queue batch max_queued = [u:ann=2]\nset queue batch enabled = True\n");
    server.put("server_priv/resourcedef", "# site\nlic type=long flag=q\n");
    const auto file = [&](const char* name) { return (server.home() / name).string(); };
    const Output dry = server.command(
        {"pbs_migrate", "--dry-run", "--sched-config", file("sched_priv/sched_config"), "--qmgr-print",
         file("sched_priv/qmgr_print"), "--resourcedef", file("server_priv/resourcedef")});
    ASSERT_EQ(dry.exit, 0) << dry;
    ASSERT_TRUE(server.start());
    const std::string report = server.read("server_priv/migration_report");
    for (const char* name : {"neednodes", "procct", "procs"}) {
        const std::string refused = std::string(": isn't carried over: there is no resource ") + name;
        EXPECT_THAT(dry.out, HasSubstr(refused));
        EXPECT_THAT(report, HasSubstr(refused));
        EXPECT_THAT(dry.out,
                    Not(::testing::ContainsRegex(std::string("(^|\n)set queue batch [a-z_]*\\.") + name)));
    }
    EXPECT_THAT(report, HasSubstr("'netwins' is not a known resource"));
    EXPECT_THAT(report, Not(HasSubstr("is not a resource of this server")));
    EXPECT_EQ(server.attribute("resource lic", "flag"), "q");
    EXPECT_EQ(server.attribute("queue batch", "resources_max.lic"), "3");
    EXPECT_EQ(server.attribute("queue batch", "max_queued"), "[u:ann=2]");
    EXPECT_THAT(server.attribute("policy default_policy", "exclude_resources"), HasSubstr("lic"));
    // The dry run's directives need no object that the server lacks.
    const Output again = server.command({"qmgr"}, {.input = dry.out});
    EXPECT_EQ(again.err.find("Unknown"), std::string::npos) << again;
}

TEST(Migration, AWholeServerThroughARunningOne) {
    NEEDS(own_attributes);
    Server server;
    ASSERT_TRUE(server.start());
    server.put("site/sched_config", kLegacySchedConfig);
    server.put("site/print", print_of(server));
    const auto migrate = [&](const std::vector<std::string>& more) {
        std::vector<std::string> argv = {"pbs_migrate",    "--server",
                                         "--sched-config", (server.home() / "site/sched_config").string(),
                                         "--qmgr-print",   (server.home() / "site/print").string()};
        argv.insert(argv.end(), more.begin(), more.end());
        return server.command(argv);
    };
    for (const char* how : {"--dry-run", "--check", "--diff"}) {
        const Output told = migrate({how});
        EXPECT_EQ(told.exit, 0) << told;
        EXPECT_THAT(told.out, HasSubstr("set server job_history_duration = soon: isn't carried over: "))
            << how;
        EXPECT_THAT(told.out, HasSubstr("create node faraway: isn't carried over: ")) << how;
        EXPECT_THAT(server.qmgr("list queue @default").out, Not(HasSubstr("workq"))) << "only told";
    }
    EXPECT_THAT(migrate({"--diff"}).out, HasSubstr("+ queue workq resources_max.ncpus = 64\n"));
    const Output done = migrate({});
    ASSERT_EQ(done.exit, 0) << done;
    expect_whole_server(server);
    const Output again = migrate({});
    EXPECT_THAT(again.out, HasSubstr("Nothing was changed: everything is there already.\n"));
    EXPECT_THAT(again.out, HasSubstr("-> queue workq resources_max.ncpus = 64 (already so)\n"));
    // A queue from an earlier migration stays if the new print lacks it. A note says how to delete the queue.
    const std::string whole = server.read("site/print");
    server.put("site/print", whole + "create queue late queue_type = Execution\n");
    ASSERT_EQ(migrate({}).exit, 0);
    server.put("site/print", whole);
    const std::string told =
        "queue late: stays although the print no longer has it: qmgr -c \"delete queue late\" removes "
        "it\n";
    EXPECT_THAT(migrate({"--diff"}).out, HasSubstr(told));
    EXPECT_THAT(migrate({}).out, HasSubstr(told));
    EXPECT_EQ(server.attribute("queue late", "queue_type"), "Execution");
    ASSERT_TRUE(server.configure({"delete queue late"}));
    EXPECT_THAT(migrate({}).out, Not(HasSubstr("queue late")));
    // After a migration a value is changed. --diff then shows the change.
    ASSERT_TRUE(server.configure({"set queue workq resources_max.ncpus = 32"}));
    EXPECT_THAT(migrate({"--diff"}).out, HasSubstr("- queue workq resources_max.ncpus = 32\n"
                                                   "+ queue workq resources_max.ncpus = 64\n"));
}

TEST(Migration, WhatAManagerMayNotDoIsNotDoneByAMigration) {
    NEEDS(own_attributes);
    const auto user = other();
    if (!user) GTEST_SKIP() << "needs root";
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"set server managers += " + user->name + "@*"}));
    const auto folder = std::filesystem::temp_directory_path() / ("print-" + std::to_string(getpid()));
    std::ofstream(folder) << "set server mailer = /tmp/evil\nset server max_running = 9\n";
    std::filesystem::permissions(folder, std::filesystem::perms(0644));
    const Output done =
        server.command({"pbs_migrate", "--server", "--qmgr-print", folder.string()}, {.uid = user->uid});
    std::filesystem::remove(folder);
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_THAT(done.out,
                HasSubstr("set server mailer = /tmp/evil: isn't carried over: mailer can only be set by"));
    EXPECT_EQ(server.attribute("server", "max_running"), "9");
    EXPECT_THAT(server.attribute("server", "mailer"), Not(HasSubstr("evil")));
}

// Migrates the files of an older scheduler to a server that already has queues. The queues get execution
// types.
TEST(Migration, QueuesThatAreThereGetTheirTimes) {
    NEEDS(own_attributes);
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({
        "create queue workq queue_type=execution, enabled=True, started=True",
        "create queue p_fast queue_type=execution, enabled=True, started=True",
        "create queue np_slow queue_type=execution, enabled=True, started=True",
        "create queue ded1 queue_type=execution, enabled=True, started=True",
        "create queue p_mine queue_type=execution_dedicated, enabled=True, started=True",
    }));
    server.put("site/sched_config", kLegacySchedConfig);
    const Output done = server.command(
        {"pbs_migrate", "--server", "--sched-config", (server.home() / "site/sched_config").string()});
    ASSERT_EQ(done.exit, 0) << done;
    EXPECT_EQ(server.attribute("queue workq", "execution_type"), "(none)");
    EXPECT_EQ(server.attribute("queue p_fast", "execution_type"), "execution_prime");
    EXPECT_EQ(server.attribute("queue np_slow", "execution_type"), "execution_non_prime");
    EXPECT_EQ(server.attribute("queue ded1", "execution_type"), "execution_dedicated");
    EXPECT_EQ(server.attribute("queue p_mine", "execution_type"), "execution_dedicated")
        << "what somebody has set stays";
    EXPECT_EQ(server.attribute("policy default_policy", "dedicated_queues"), "ded1");
    // The types are set only once: a type that is changed afterwards isn't set again at the next start.
    ASSERT_TRUE(server.configure({"set queue p_fast queue_type = execution"}));
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("queue p_fast", "execution_type"), "(none)");
}

class ThroughTheServer : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({"create queue p_fast queue_type=execution"}));
        server.put("site/sched_config", kLegacySchedConfig);
        server.put("site/holidays", kPbsHolidays);
    }
    Output migrate(const std::vector<std::string>& more = {}) {
        std::vector<std::string> argv = {"pbs_migrate",    "--server",
                                         "--sched-config", (server.home() / "site/sched_config").string(),
                                         "--holidays",     (server.home() / "site/holidays").string()};
        argv.insert(argv.end(), more.begin(), more.end());
        return server.command(argv);
    }
    Server server;
};

TEST_F(ThroughTheServer, AManagerMigratesWithoutAnInterruption) {
    NEEDS(own_attributes);
    const Output diff = migrate({"--diff"});
    EXPECT_EQ(diff.exit, 0) << diff;
    EXPECT_THAT(diff.out, HasSubstr("+ policy default_policy by_queue = True\n"));
    EXPECT_THAT(diff.out, HasSubstr("+ queue p_fast execution_type = execution_prime\n"));
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy") << "only told";
    const Output done = migrate();
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_THAT(done.out, HasSubstr("values were set.\n"));
    EXPECT_EQ(server.attribute("sched default", "prime_time"), "True");
    EXPECT_EQ(server.attribute("queue p_fast", "execution_type"), "execution_prime");
    EXPECT_THAT(server.read("server_priv/migration_report"), HasSubstr("by_queue"));
    const Output again = migrate();
    EXPECT_THAT(again.out, HasSubstr("Nothing was changed: everything is there already.\n"));
    EXPECT_THAT(migrate({"--diff"}).out, Not(::testing::ContainsRegex("(^|\n)[-+] ")));
    // After the file was corrected, a new migration removes the values that came from the old file.
    server.put("site/sched_config", "by_queue: True\n");
    EXPECT_EQ(migrate().exit, 0);
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy");
    EXPECT_EQ(server.attribute("policy default_policy_prime", "by_queue"), "(none)");
    EXPECT_EQ(server.attribute("queue p_fast", "execution_type"), "(none)");
}

TEST_F(ThroughTheServer, GridEnginesOwnComplexesAreResourcesAtOnce) {
    NEEDS(own_attributes);
    server.put("conf/sc",
               "#name shortcut type relop requestable consumable default urgency\n"
               "slots s INT <= YES YES 1 1000\n"
               "lic lic INT <= YES YES 0 50\n");
    server.put("conf/srqs", "{\n name q1\n description NONE\n enabled TRUE\n limit users {*} to lic=2\n}\n");
    const std::string folder = (server.home() / "conf").string();
    const Output done = server.command({"pbs_migrate", "--server", "--grid-engine", folder});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_THAT(done.out, Not(HasSubstr("at its next start")));
    EXPECT_EQ(server.attribute("resource lic", "type"), "long");
    EXPECT_EQ(server.attribute("resource lic", "flag"), "hqn");
    EXPECT_EQ(server.attribute("quota q1", "rule.rule_1"), "users={*} to lic=2");
    EXPECT_TRUE(server.configure({"create node n1 resources_available.lic=4"}));
    const Output again = server.command({"pbs_migrate", "--server", "--grid-engine", folder});
    EXPECT_THAT(again.out, AllOf(HasSubstr("Nothing was changed: everything is there already.\n"),
                                 Not(HasSubstr("busy"))));
}

TEST_F(ThroughTheServer, InJsonAndWithMistakes) {
    const Output json = migrate({"--dry-run", "--json"});
    EXPECT_EQ(json.exit, 0) << json;
    EXPECT_THAT(json.out, HasSubstr("\"target\": \"policy default_policy by_queue\""));
    server.put("site/sched_config", "by_queue: perhaps\n");
    const Output refused = migrate({"--json", "--strict"});
    EXPECT_EQ(refused.exit, 2);
    EXPECT_THAT(refused.out, HasSubstr("\"line\": 1"));
    EXPECT_THAT(refused.err, HasSubstr("site/sched_config:1:11: by_queue: 'perhaps' is not True or False"));
    EXPECT_EQ(migrate({"--check", "--strict"}).exit, 2);
    for (const char* how : {"--check", "--diff", "--dry-run", "--infer"}) {
        const Output told = migrate({how});
        EXPECT_EQ(told.exit, 0) << told;
        EXPECT_THAT(told.out,
                    HasSubstr("site/sched_config:1:11: by_queue: 'perhaps' is not True or False; it is "
                              "read as True, as the schedulers of PBS and TORQUE read it\n"));
    }
}

// Returns a usage file of pbs_sched in the format of 64-bit machines. The bytes include NULs.
std::string usage_file() {
    std::string bytes("PBS_MAG!\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\xe4\x0b\x54\x02\0\0\0", 32);
    std::string record("alice");
    record.resize(56);
    const double used = 3600;
    record.append(reinterpret_cast<const char*>(&used), sizeof used);
    return bytes + record;
}

TEST_F(ThroughTheServer, TheUsageFileOfAScheduler) {
    server.put("site/sched_config", std::string(kLegacySchedConfig));
    server.put("site/usage", usage_file());
    const Output done = migrate({"--usage", (server.home() / "site/usage").string()});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_THAT(done.out, HasSubstr("site/usage -> usage of fs_group:default_fs_group = 1 record\n"));
    server.put("site/usage", usage_file() + "more");
    const std::string usage = (server.home() / "site/usage").string();
    const Output refused = migrate({"--usage", usage, "--strict"});
    EXPECT_EQ(refused.exit, 2);
    EXPECT_THAT(refused.err, HasSubstr("site/usage: byte 96: the last record has 4 bytes, expected 64\n"));
    for (const std::vector<std::string>& how : {std::vector<std::string>{"--check"}, {"--diff"}, {}}) {
        std::vector<std::string> argv = how;
        argv.insert(argv.end(), {"--usage", usage});
        const Output told = migrate(argv);
        EXPECT_EQ(told.exit, 0) << told;
        EXPECT_THAT(told.out,
                    HasSubstr("byte 96: the last record has 4 bytes, expected 64; the record is left out\n"));
    }
}

TEST_F(ThroughTheServer, ATreeOfTenThousandEntities) {
    std::string tree;
    for (int i = 0; i < 10'000; ++i) tree += "user" + std::to_string(i) + " 60 root 5\n";
    server.put("site/resource_group", tree);
    const Output done = migrate({"--resource-group", (server.home() / "site/resource_group").string()});
    ASSERT_EQ(done.exit, 0) << done.err;
    const std::string shown = server.attribute("fs_group default_fs_group", "tree_element");
    EXPECT_EQ(std::count(shown.begin(), shown.end(), ','), 9'999);
    EXPECT_TRUE(shown.ends_with("user9999:root=5"));
    ASSERT_TRUE(server.configure({"set fs_group default_fs_group tree_element += late:root=1",
                                  "set fs_group default_fs_group tree_element -= user0"}));
    // The output of print makes an equal fs_group on another server.
    const Output printed = server.qmgr("print fs_group default_fs_group");
    Server another;
    ASSERT_TRUE(another.start());
    const Output made = another.command({"qmgr"}, {.input = printed.out});
    EXPECT_EQ(made.exit, 0) << made.err.substr(0, 1000);
    EXPECT_EQ(another.attribute("fs_group default_fs_group", "tree_element"),
              server.attribute("fs_group default_fs_group", "tree_element"));
}

// pbs_migrate exports the objects of a running server as files. Migrating these files gives the same objects.
TEST_F(ThroughTheServer, TheWayBack) {
    NEEDS(own_attributes);
    ASSERT_TRUE(server.configure({"create resource licences type=long, flag=q"}));
    server.put("site/sched_config", std::string(kLegacySchedConfig) + "resources: \"ncpus, mem, netwins\"\n");
    ASSERT_EQ(migrate().exit, 0);
    EXPECT_EQ(migrate({"--queues", "a"}).exit, 1) << "the server knows its queues";
    std::filesystem::create_directory(server.home() / "back");
    const std::string back = (server.home() / "back").string();
    for (const char* kind : {"sched_config", "holidays", "dedicated_time", "resource_group", "configfile"}) {
        const Output done = server.command({"pbs_migrate", "--server", "--export", kind, back});
        EXPECT_EQ(done.exit, 0) << done;
    }
    const std::string text = server.read("back/sched_config");
    EXPECT_THAT(text, HasSubstr("primetime_prefix: p_fast\n"));
    EXPECT_THAT(text, HasSubstr("\nresources: \"mem, ncpus, "));
    EXPECT_THAT(text, HasSubstr(", netwins\"\n")) << "though there is no such resource";
    EXPECT_THAT(text, Not(HasSubstr("licences")));
    const Output again =
        server.command({"pbs_migrate", "--server", "--diff", "--sched-config", back + "/sched_config",
                        "--holidays", back + "/holidays", "--resource-group", back + "/resource_group"});
    EXPECT_EQ(again.exit, 0) << again;
    EXPECT_EQ(differences(again.out), "") << "notes alone";
}

TEST_F(ThroughTheServer, OnlyManagersMayMigrate) {
    if (!other()) GTEST_SKIP() << "this process can't be another user";
    const std::string text = kLegacySchedConfig;
    const std::filesystem::path file = server.work() / "sched_config";
    std::ofstream(file) << text;
    const Output refused =
        server.command_as(*other(), {"pbs_migrate", "--server", "--sched-config", file.string()});
    EXPECT_EQ(refused.exit, 2) << refused;
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy");
}

}  // namespace
}  // namespace pbs::e2e
