// Kills the server, or fills its disk, at each step of a migration. Afterwards, everything is migrated or
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/e2e/harness.h"
#include "tests/faults/fault_counters.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSchedConfig =
    "by_queue: True\tprime\nby_queue: False\tnon_prime\nfair_share: True\tALL\nprimetime_prefix: p_\n";
constexpr const char* kHolidays =
    "YEAR 2026\nweekday 0600 1730\nsaturday none all\nsunday none all\n359 Dec 25 Christmas Day\n";
constexpr const char* kTree = "grp1 50 root 10\nalice 60 grp1 5\n";
constexpr const char* kPrint =
    "create queue made\nset queue made queue_type = Execution\nset queue made Priority = 7\n"
    "set server max_running = 9\n";

// A server that migrates. faults.c is preloaded into it, and kills it or makes a write fail where the test
// says.
class MigratingServer {
  public:
    MigratingServer() {
        Server::Options options;
        options.program = counters_.server();
        server = std::make_unique<Server>(options);
    }
    MigratingServer(const MigratingServer&) = delete;
    MigratingServer& operator=(const MigratingServer&) = delete;

    void put_files(const std::string& folder) const {
        server->put(folder + "/sched_config", kSchedConfig);
        server->put(folder + "/holidays", kHolidays);
        server->put(folder + "/resource_group", kTree);
        server->put(folder + "/qmgr_print", kPrint);
    }
    Output migrate(const std::vector<std::string>& more) const {
        std::vector<std::string> argv = {"pbs_migrate"};
        for (const auto& [option, file] : {std::pair{"--sched-config", "sched_config"},
                                           {"--holidays", "holidays"},
                                           {"--resource-group", "resource_group"},
                                           {"--qmgr-print", "qmgr_print"}}) {
            argv.emplace_back(option);
            argv.push_back((server->home() / "site" / file).string());
        }
        argv.insert(argv.end(), more.begin(), more.end());
        return server->command(argv);
    }
    void no_faults() const {
        at->kill_after = 0;
        at->full_after = 0;
    }

  private:
    FaultCounters counters_;

  public:
    std::unique_ptr<Server> server;  // uses counters_, so it has to be destroyed first
    faults* at = counters_.at;
};

void expect_everything(const Server& server) {
    EXPECT_EQ(server.attribute("sched default", "policy"),
              "default_policy,p:default_policy_prime,np:default_policy_non_prime");
    EXPECT_EQ(server.attribute("policy default_policy_prime", "by_queue"), "True");
    EXPECT_EQ(server.attribute("policy default_policy_non_prime", "by_queue"), "False");
    EXPECT_EQ(server.attribute("fs_group default_fs_group", "tree_element"), "grp1:root=10,alice:grp1=5");
    EXPECT_EQ(server.attribute("server", "non_work_days"), "FREQ=YEARLY;BYYEARDAY=359 SUMMARY:Christmas Day");
    EXPECT_EQ(server.attribute("time_window prime_time", "end_time"), "17:30:00");
    EXPECT_EQ(server.attribute("sched default", "migration_error"), "(none)");
    EXPECT_EQ(server.attribute("queue made", "Priority"), "7");
    EXPECT_EQ(server.attribute("server", "max_running"), "9");
    EXPECT_THAT(server.read("server_priv/migration_report"), HasSubstr("-> queue made Priority = 7"));
    EXPECT_THAT(server.read("server_priv/migration_report"),
                HasSubstr("default_policy_prime by_queue = True"));
    EXPECT_FALSE(fs::exists(server.home() / "server_priv/migration_report.new"));
}

void expect_nothing(const Server& server) {
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy");
    EXPECT_EQ(server.attribute("policy default_policy_prime", "by_queue"), "(none)");
    EXPECT_EQ(server.attribute("server", "non_work_days"), "(none)");
    EXPECT_EQ(server.attribute("queue p_fast", "execution_type"), "(none)");
    EXPECT_EQ(server.attribute("queue made", "Priority"), "(none)");
    EXPECT_EQ(server.attribute("server", "max_running"), "(none)");
    EXPECT_FALSE(fs::exists(server.home() / "server_priv/migration_report"));
}

// Returns how many calls that change a file (faults.h) a server makes, from its first start until it answers.
long calls_of_a_first_start() {
    const MigratingServer faulty;
    faulty.put_files("sched_priv");
    EXPECT_TRUE(faulty.server->start());
    const long calls = faulty.at->calls;
    expect_everything(*faulty.server);
    return calls;
}

class MigrationFaults : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (PBS_SANITIZED != 0) GTEST_SKIP() << "the sanitizers want to be loaded first";
    }
};

TEST_F(MigrationFaults, AFirstStartThatIsKilledIsDoneByTheNext) {
    const long calls = calls_of_a_first_start();
    ASSERT_GT(calls, 20);
    for (long step = 1; step <= calls; step += stride(calls, 12)) {
        SCOPED_TRACE("killed after call " + std::to_string(step) + " of " + std::to_string(calls));
        MigratingServer faulty;
        Server& server = *faulty.server;
        faulty.put_files("sched_priv");
        faulty.put_files("site");
        faulty.at->kill_after = step;
        if (server.start()) {
            // If the server answers before it is killed, `step` is one of the last calls. These include the
            // calls for the requests that asked whether the server runs, whose number varies.
            EXPECT_GT(step, calls * 3 / 4);
            server.kill9();
        }
        EXPECT_FALSE(server.running());
        faulty.no_faults();
        // policy.db either has all migrated objects, or has none or doesn't exist.
        if (fs::exists(server.home() / "server_priv/policy.db")) {
            const Output diff = faulty.migrate({"--diff", "--into", server.home().string()});
            EXPECT_EQ(diff.exit, 0) << diff;
            // While the server doesn't run, --diff can't compare its queues and settings. So check only the
            // policy's objects.
            EXPECT_THAT(differences(diff.out),
                        AnyOf(Not(HasSubstr("policy")),
                              ::testing::AllOf(HasSubstr("+ policy default_policy_prime by_queue = True\n"),
                                               HasSubstr("+ fs_group default_fs_group tree_element"),
                                               HasSubstr("+ time_window prime_time type = prime\n"))));
        }
        ASSERT_TRUE(server.start());
        expect_everything(server);
    }
}

TEST_F(MigrationFaults, AFirstStartOnAFullDiskIsDoneByTheNext) {
    const long calls = calls_of_a_first_start();
    for (long step = 1; step <= calls; step += stride(calls, 6)) {
        SCOPED_TRACE("full after call " + std::to_string(step) + " of " + std::to_string(calls));
        MigratingServer faulty;
        Server& server = *faulty.server;
        faulty.put_files("sched_priv");
        faulty.at->full_after = step;
        const auto started = server.start();
        if (!started) {
            EXPECT_THAT(server.read("../output") + server.log(),
                        AnyOf(HasSubstr("No space left on device"), HasSubstr("disk is full"),
                              HasSubstr("disk I/O error")));
        }
        server.kill9();
        faulty.no_faults();
        ASSERT_TRUE(server.start());
        expect_everything(server);
    }
}

// Makes a server with two queues, and the files to migrate. The policy objects and the queues are in
// different databases; both databases must get the changes, or neither.
std::unique_ptr<MigratingServer> with_queues() {
    auto faulty = std::make_unique<MigratingServer>();
    EXPECT_TRUE(faulty->server->start());
    EXPECT_TRUE(faulty->server->configure(
        {"create queue p_fast queue_type=execution", "create queue p_other queue_type=execution"}));
    faulty->put_files("site");
    return faulty;
}

long calls_of_a_migration() {
    const auto faulty = with_queues();
    const long before = faulty->at->calls;
    EXPECT_EQ(faulty->migrate({"--server"}).exit, 0);
    return faulty->at->calls - before;
}

TEST_F(MigrationFaults, AServerThatIsKilledWhileItMigrates) {
    const long calls = calls_of_a_migration();
    ASSERT_GT(calls, 5);
    for (long step = 1; step <= calls; step += stride(calls, 8)) {
        SCOPED_TRACE("killed after call " + std::to_string(step) + " of " + std::to_string(calls));
        const auto faulty = with_queues();
        Server& server = *faulty->server;
        faulty->at->kill_after = faulty->at->calls + step;
        const Output cut = faulty->migrate({"--server"});
        server.kill9();
        faulty->no_faults();
        ASSERT_TRUE(server.start());
        const bool done = server.attribute("sched default", "policy") != "default_policy";
        EXPECT_TRUE(done || cut.exit != 0) << "what was acknowledged is there: " << cut;
        if (!done) {
            expect_nothing(server);
            ASSERT_EQ(faulty->migrate({"--server"}).exit, 0);
        }
        expect_everything(server);
        EXPECT_EQ(server.attribute("queue p_fast", "execution_type"), "execution_prime");
        EXPECT_EQ(server.attribute("queue p_other", "execution_type"), "execution_prime");
        EXPECT_EQ(differences(faulty->migrate({"--server", "--diff"}).out), "");
    }
}

TEST_F(MigrationFaults, AMigrationOnAFullDiskIsRefusedAndCanBeRepeated) {
    const long calls = calls_of_a_migration();
    for (long step = 0; step < calls; step += stride(calls, 5)) {
        SCOPED_TRACE("full after call " + std::to_string(step) + " of " + std::to_string(calls));
        const auto faulty = with_queues();
        Server& server = *faulty->server;
        faulty->at->full_after = faulty->at->calls + step;
        const Output refused = faulty->migrate({"--server"});
        EXPECT_TRUE(server.running());
        if (refused.exit != 0) {
            EXPECT_EQ(refused.exit, 2) << refused;
            EXPECT_THAT(refused.err, HasSubstr("disk is full"));
            // If the disk becomes full after the write to the first database and before that to the second,
            // the server undoes the first write only at its next start.
            if (server.attribute("sched default", "policy") != "default_policy") {
                faulty->no_faults();
                server.kill9();
                ASSERT_TRUE(server.start());
            }
            expect_nothing(server);
        }
        faulty->no_faults();
        EXPECT_EQ(faulty->migrate({"--server"}).exit, 0);
        expect_everything(server);
        EXPECT_EQ(server.attribute("queue p_fast", "execution_type"), "execution_prime");
        EXPECT_EQ(server.attribute("queue p_other", "execution_type"), "execution_prime");
    }
}

}  // namespace
}  // namespace pbs::e2e
