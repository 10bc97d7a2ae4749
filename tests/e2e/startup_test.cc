// Tests starts of the server, refusals to start, and stops; and the files that a server leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Startup : public OfOwnServer<> {};
class Durability : public OfOwnServer<> {};

TEST_F(Startup, AnEmptyHomeIsFilled) {
    Server server;
    ASSERT_TRUE(server.start());
    for (const char* path : {"server_priv", "sched_priv", "server_logs", "server_priv/accounting", "spool",
                             "server_priv/server.db", "server_priv/policy.db"}) {
        EXPECT_TRUE(fs::exists(server.home() / path)) << path;
    }
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy");
    EXPECT_THAT(server.log(), HasSubstr("control group")) << "what holds the processes of jobs together";
}

TEST_F(Startup, SigtermStopsCleanlyAndTheNextStartGoesOn) {
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create policy kept comment='still here'"}));
    ASSERT_TRUE(server.stop());
    EXPECT_FALSE(fs::exists(server.home() / "server_priv/pbs.sock"));
    EXPECT_NE(server.command({"qstat", "-B"}).exit, 0) << "nobody answers";
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("policy kept", "comment"), "still here");
}

TEST_F(Startup, ASecondServerOnTheSameHomeIsRefused) {
    Server server;
    ASSERT_TRUE(server.start());
    const Output refused =
        run({"pbs_server", "-d", server.home().string(), "-p", "0"}, {.timeout = std::chrono::seconds(10)});
    EXPECT_FALSE(refused.timed_out);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr(std::to_string(server.pid())));
    EXPECT_EQ(server.command({"qstat", "-B"}).exit, 0) << "the first one is unharmed";
}

TEST_F(Startup, AMissingPluginIsRefused) {
    Server server({.arguments = {"--plugin", "/nowhere/pbs_policy.so"}, .program = {}});
    const Output refused = server.start_refused();
    EXPECT_FALSE(refused.timed_out);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("/nowhere/pbs_policy.so"));
}

// A new folder in /tmp. The destructor removes it.
class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "pbs-e2e-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    fs::path path;
};

fs::path shepherd() {
    return program("pbs_server").parent_path() / "../lib/pbspolicy/pbs_shepherd";
}

TEST_F(Startup, WithoutAPluginWhereItLooksItIsRefused) {
    const Folder installed;
    fs::create_directories(installed.path / "bin");
    fs::create_directories(installed.path / "lib/pbspolicy");
    fs::copy(program("pbs_server"), installed.path / "bin/pbs_server");
    fs::copy(shepherd(), installed.path / "lib/pbspolicy/pbs_shepherd");
    Server server({.arguments = {}, .program = installed.path / "bin/pbs_server"});
    const Output refused = server.start_refused();
    EXPECT_FALSE(refused.timed_out);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("pbs_policy.so"));
}

TEST_F(Startup, AnInstalledServerFindsItsPluginAndItsShepherd) {
    const Folder installed;
    fs::create_directories(installed.path / "bin");
    fs::create_directories(installed.path / "lib/pbspolicy");
    fs::copy(program("pbs_server"), installed.path / "bin/pbs_server");
    fs::copy(program("pbs_policy.so"), installed.path / "lib/pbspolicy/pbs_policy.so");
    {
        Server incomplete({.arguments = {}, .program = installed.path / "bin/pbs_server"});
        const Output refused = incomplete.start_refused();
        EXPECT_NE(refused.exit, 0);
        EXPECT_THAT(refused.err, HasSubstr("lib/pbspolicy/pbs_shepherd: No such file or directory"));
    }
    fs::copy(shepherd(), installed.path / "lib/pbspolicy/pbs_shepherd");
    Server server({.arguments = {}, .program = installed.path / "bin/pbs_server"});
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("sched default", "active_policy"), "default_policy");
}

TEST_F(Startup, SomethingThatIsNoPluginIsRefused) {
    Server server({.arguments = {"--plugin", "/lib/x86_64-linux-gnu/libc.so.6"}, .program = {}});
    const Output refused = server.start_refused();
    EXPECT_NE(refused.exit, 0);
    EXPECT_FALSE(refused.timed_out);
    EXPECT_THAT(refused.err, HasSubstr("libc.so.6"));
}

TEST_F(Startup, ADamagedPolicyStoreIsRefusedAndNamed) {
    Server server;
    server.put("server_priv/policy.db",
               "this is not a database but a text that is long enough to be read as one");
    const Output refused = server.start_refused();
    EXPECT_NE(refused.exit, 0);
    EXPECT_FALSE(refused.timed_out);
    EXPECT_THAT(refused.err, HasSubstr("policy.db"));
}

TEST_F(Startup, AnUnknownOptionIsNamed) {
    const Output refused = run({"pbs_server", "-d", "/nonexistent", "--colour"});
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err + refused.out, HasSubstr("--colour"));
}

TEST_F(Startup, AsADaemonItReturnsWhenItServes) {
    Server server;
    const Output started =
        run({"pbs_server", "-d", server.home().string(), "-p", std::to_string(server.port()), "--daemon"});
    ASSERT_EQ(started.exit, 0) << started;
    EXPECT_EQ(server.command({"qstat", "-B"}).exit, 0);
    const std::string lock = server.read("server_priv/server.lock");
    pid_t pid = 0;
    std::from_chars(lock.data(), lock.data() + lock.size(), pid);
    ASSERT_GT(pid, 1) << lock;
    ASSERT_EQ(kill(pid, SIGTERM), 0);
    EXPECT_TRUE(wait_for([&] { return server.command({"qstat", "-B"}).exit != 0; }));
}

// With too few descriptors to load a library, the program loader reports the error before the server could.
TEST_F(Startup, TooFewDescriptorsAreRefused) {
    const Folder home;
    for (int limit = 3; limit <= 40; ++limit) {
        const Output refused = run(
            {"sh", "-c",
             "ulimit -n " + std::to_string(limit) + "; exec pbs_server -d " + home.path.string() + " -p 0"});
        if (limit < 8 && refused.exit == 127) continue;
        EXPECT_EQ(refused.exit, 1) << limit << refused;
        EXPECT_EQ(refused.err, "pbs_server: the limit of open files (ulimit -n) is " + std::to_string(limit) +
                                   ": expected at least 64\n");
    }
    EXPECT_TRUE(fs::is_empty(home.path));
}

TEST_F(Durability, AcknowledgedChangesSurviveKill9) {
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create queue workq queue_type=execution, enabled=True, started=False",
                                  "set server default_queue=workq"}));
    std::vector<std::string> jobs;
    for (int round = 0; round < 3; ++round) {
        const std::string n = std::to_string(round);
        ASSERT_TRUE(
            server.configure({"create policy p" + n, "set policy p" + n + " backfill_depth=" + n,
                              "create time_window t" + n + " rrule='FREQ=DAILY'", "create fs_group f" + n,
                              "set server non_work_days += 0" + std::to_string(round + 1) + "/01"}));
        jobs.push_back(server.submit("true\n"));
        ASSERT_NE(jobs.back(), "");
        server.kill9();
        ASSERT_TRUE(server.start());
        for (int i = 0; i <= round; ++i) {
            EXPECT_EQ(server.attribute("policy p" + std::to_string(i), "backfill_depth"), std::to_string(i));
            EXPECT_EQ(server.attribute("time_window t" + std::to_string(i), "rrule"), "FREQ=DAILY");
            EXPECT_EQ(server.job(jobs[static_cast<size_t>(i)], "job_state"), "Q");
        }
    }
    EXPECT_EQ(server.attribute("server", "non_work_days"),
              "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1,FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=1,FREQ=YEARLY;BYMONTH=3;"
              "BYMONTHDAY=1");
}

TEST_F(Startup, AMessageHoldsNothingThatATerminalActsOn) {
    Server server({.arguments = {"--plugin", "/no\x1b[2J\xff.so"}, .program = {}});
    const Output refused = server.start_refused();
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.out + refused.err, ::testing::HasSubstr("/no\\x1b[2J\\xff.so"));
}

}  // namespace
}  // namespace pbs::e2e
