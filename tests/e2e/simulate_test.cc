// Tests the command pbs_simulate, with and without a running server.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

using testing::HasSubstr;

class Simulate : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        folder = std::filesystem::temp_directory_path() /
                 ("simulate_test." + std::to_string(getpid()) + "." +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::string put(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name) << text;
        return (folder / name).string();
    }
    std::string read(const std::string& name) const { return pbs::test::file_text(folder / name); }
    // Returns a trace of three jobs for two CPUs. The third job would fit at once, but strict_ordering makes
    // it wait until the second has started.
    std::string trace() const {
        return put("t.swf",
                   "; UnixStartTime: 1795392000\n; TimeZoneString: UTC\n; MaxNodes: 1\n; MaxProcs: 2\n"
                   "1 0 -1 100 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1\n"
                   "2 10 -1 100 2 -1 -1 2 100 -1 1 2 1 -1 1 -1 -1 -1\n"
                   "3 20 -1 50 1 -1 -1 1 50 -1 1 1 1 -1 1 -1 -1 -1\n");
    }
    std::string strict() const {
        return put("strict.qmgr",
                   "create policy strict\nset policy strict strict_ordering=True,backfill_depth=0\n");
    }
    static Output simulate(std::vector<std::string> arguments, const RunOptions& options = {}) {
        arguments.insert(arguments.begin(), "pbs_simulate");
        return run(arguments, options);
    }
    std::filesystem::path folder;
};

TEST_F(Simulate, ATraceByItself) {
    const Output table = simulate({"--swf", trace()});
    EXPECT_EQ(table.exit, 0) << table;
    EXPECT_THAT(table.out, HasSubstr("Policy    default_policy\nMachine   1 vnode, 2 CPUs\n"));
    EXPECT_THAT(table.out, HasSubstr("  longest               0:01:30  0:00:00    0:01:30\n"));
    EXPECT_EQ(table.err, "") << "no bar where nobody looks";
    EXPECT_EQ(simulate({"--swf", trace()}).out, table.out) << "the same each time";
}

TEST_F(Simulate, TwoPoliciesSideBySideWithPlots) {
    const std::string svg = (folder / "plots.svg").string();
    const Output table =
        simulate({"--swf", trace(), "--compare", "default_policy", strict(), "--svg", svg, "--timing"});
    EXPECT_EQ(table.exit, 0) << table;
    EXPECT_THAT(table.out, HasSubstr("B - A"));
    // With strict_ordering, the last job waits for 180 seconds instead of 0, so the mean of three grows by a
    // minute.
    EXPECT_THAT(table.out, HasSubstr("wait, mean              0:00:30  0:01:30  +0:01:00\n"));
    EXPECT_THAT(table.err, HasSubstr("starts a second"));
    EXPECT_THAT(read("plots.svg"), HasSubstr("B: "));
    const Output in_folder = simulate({"--swf", trace(), "--svg", folder.string()});
    EXPECT_EQ(in_folder.exit, 0) << in_folder;
    EXPECT_THAT(read("waiting.svg"), HasSubstr("</svg>"));
}

// The second job needs both CPUs, or one of them for twice as long.
TEST_F(Simulate, MoldableJobsStartWithFewerProcessors) {
    const Output table = simulate({"--swf", trace(), "--moldable", "2"});
    EXPECT_EQ(table.exit, 0) << table;
    EXPECT_THAT(table.out, HasSubstr("Note      --moldable 2: each job may have from 1/2 of its processors"));
    EXPECT_THAT(table.out, HasSubstr("had fewer than the most         1\n"));
    EXPECT_THAT(table.out, HasSubstr("CPUs had, mean               1.00\n"));
}

// Compares a policy with a program that does the same: the figures are alike.
TEST_F(Simulate, AProgramOfTheSite) {
    const std::string fifo = program("fifo_scheduler").string();
    const Output json = simulate({"--swf", trace(), "--compare", strict(), "--external", fifo, "--json"});
    EXPECT_EQ(json.exit, 0) << json;
    EXPECT_EQ(json.err, "");
    const auto both = nlohmann::json::parse(json.out)["simulations"];
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[1]["title"], "fifo_scheduler");
    EXPECT_EQ(both[1]["policies"], both[0]["policies"]);
    EXPECT_EQ(both[1]["all"], both[0]["all"]);
    EXPECT_EQ(both[1]["end"], both[0]["end"]);
    EXPECT_FALSE(both[1].contains("refused_starts"));

    const Output ended = simulate({"--swf", trace(), "--external", "echo no >&2; exit 4"});
    EXPECT_EQ(ended.exit, 2) << ended;
    EXPECT_THAT(ended.err,
                HasSubstr("no\npbs_simulate: echo: the program 'echo no >&2; exit 4' has ended with "
                          "exit status 4, with 1 job waiting and 2 to come"));
    EXPECT_EQ(simulate({"--swf", trace(), "--compare", strict()}).exit, 1) << "one policy alone";
    EXPECT_EQ(simulate({"--swf", trace(), "--external", ""}).exit, 1);
    EXPECT_EQ(simulate({"--swf", trace(), "--external-timeout", "5"}).exit, 1) << "no program";
}

// The other policy is simulated in a thread of its own meanwhile, which must not take the signal.
TEST_F(Simulate, AProgramOfTheSiteAndItsFolderAreGoneAfterASignal) {
    std::string jobs = read(std::filesystem::path(trace()).filename());
    for (int job = 4; job < 3000; ++job)
        jobs += std::to_string(job) + " 30 -1 100 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1\n";
    // The path of a socket is short, and that of the test's folder may be too long for it.
    std::string temporary = std::filesystem::temp_directory_path() / "sim.XXXXXX";
    ASSERT_NE(mkdtemp(temporary.data()), nullptr);
    const Output ended = simulate({"--swf", put("long.swf", jobs), "--compare", strict(), "--external",
                                   "kill -INT $PPID; exec sleep 1000"},
                                  {.environment = {{"TMPDIR", temporary}}});
    EXPECT_EQ(ended.exit, 2) << ended;
    EXPECT_THAT(ended.err, HasSubstr("ended by signal 2"));
    EXPECT_TRUE(std::filesystem::is_empty(temporary));
    std::filesystem::remove_all(temporary);
}

TEST_F(Simulate, GoesOnWhenStandardErrorIsFull) {
    const std::string command = "exec \"$0\" --swf \"$1\" --timing 2>/dev/full";
    const Output full = run({"/bin/sh", "-c", command, program("pbs_simulate").string(), trace()});
    EXPECT_EQ(full.exit, 0) << full;
    EXPECT_THAT(full.out, HasSubstr("Policy    default_policy\n"));
}

TEST_F(Simulate, AsJsonOnAnotherMachine) {
    const Output json = simulate({"--swf", "-", "--json", "--nodes", "2", "--cpus", "2"}, {read("t.swf")});
    EXPECT_EQ(json.exit, 2) << "an empty trace";
    trace();
    const Output full = simulate({"--swf", "-", "--json", "--nodes", "2", "--cpus", "2"}, {read("t.swf")});
    EXPECT_EQ(full.exit, 0) << full;
    EXPECT_THAT(full.out, HasSubstr("\"cpus\": 4,"));
    EXPECT_THAT(full.out, HasSubstr("\"trace\": \"-\","));
}

TEST_F(Simulate, WrongInputIsNamedAndFails) {
    EXPECT_EQ(simulate({}).exit, 1);
    EXPECT_EQ(simulate({"--swf", trace(), "--bogus"}).exit, 1);
    EXPECT_EQ(simulate({"--swf", trace(), "--policy", "p", "--compare", "p", "q"}).exit, 1);
    EXPECT_EQ(simulate({"--swf", trace(), "--nodes", "0"}).exit, 1);
    for (const std::string factor : {"0", "-2", "nan", "inf", "0.5", "1000001", "two", ""}) {
        const Output refused = simulate({"--swf", trace(), "--moldable", factor});
        EXPECT_EQ(refused.exit, 1) << factor;
        EXPECT_THAT(refused.err, HasSubstr("expected a number from 1 to 1000000")) << factor;
    }
    EXPECT_EQ(simulate({"--accounting", trace(), "--moldable", "2"}).exit, 1) << "only of SWF";
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"--swf", "/no/such/file"}, "can't read /no/such/file"},
        {{"--swf", put("bad.swf", "1 2 3\n")}, "line 1, column 6: found 3 fields, expected 18"},
        {{"--swf", put("binary.swf", "\x1b[2J\xff\n")}, "found '?[2J?', expected a number"},
        {{"--swf", put("empty.swf", "; MaxProcs: 4\n")}, "empty.swf: no job to simulate"},
        {{"--accounting", put("bad.log", "hello\n")}, "line 1, column 1: expected a record"},
        {{"--swf", trace(), "--policy", "nothing"}, "'nothing': expected a policy of the configuration"},
        {{"--swf", trace(), "--config", put("bad.json", "[]")}, "bad.json: not JSON"},
        {{"--swf", trace(), "--queue", "long"}, "--queue: found 'long', expected NUMBER=NAME"},
        {{"--swf", trace(), "--time-zone", "Moon"}, "--time-zone: found 'Moon'"},
        {{"--swf", trace(), "--mem", "1gb"}, "--mem is of each vnode"},
        {{"--swf", trace(), "--nodes", "1", "--mem", "much"}, "--mem"},
        {{"--swf", trace(), "--svg", "/no/such/folder/x.svg"}, "can't write /no/such/folder/x.svg"},
        {{"--swf", trace(), "--policy", put("p.qmgr", "set policy p by_queue=1\n")}, "p.qmgr: line 1"},
    };
    for (const auto& [arguments, message] : cases) {
        const Output failed = simulate(arguments);
        EXPECT_EQ(failed.exit, 2) << failed;
        EXPECT_THAT(failed.err, HasSubstr(message));
    }
}

// Simulates the jobs that a server has run. The jobs come from its accounting files, and the settings from
// its configuration.
TEST_F(OriginServer, ItsJobsAndItsConfigurationAreSimulated) {
    NEEDS(own_server);
    std::vector<std::string> ids;
    for (int i = 0; i < 3; ++i) {
        ids.push_back(server.submit("true", {"-l", "ncpus=2,walltime=60"}));
        ASSERT_FALSE(ids.back().empty());
    }
    ASSERT_TRUE(wait_for([&] {
        const std::string log = server.accounting();
        return std::ranges::all_of(ids, [&](auto& id) { return log.find(";E;" + id) != log.npos; });
    }));
    std::string log;
    for (const auto& entry :
         std::filesystem::directory_iterator(server.home() / "server_priv" / "accounting"))
        log = entry.path().string();
    const Output asked = server.command({"pbs_simulate", "--accounting", log, "--server"});
    EXPECT_EQ(asked.exit, 0) << asked;
    EXPECT_THAT(asked.out, HasSubstr("Trace     " + log + ": 3 jobs\n"));
    EXPECT_THAT(asked.out, HasSubstr("Machine   1 vnode, 8 CPUs\n"));
    EXPECT_THAT(asked.out, HasSubstr("Jobs      3 started in "));

    // With --days and --server, the server sends the accounting records. So managers who may not read the
    // files can use them.
    const std::string day = std::filesystem::path(log).filename();
    const Output through = server.command({"pbs_simulate", "--days", day, "--server"});
    EXPECT_EQ(through.exit, 0) << through;
    EXPECT_THAT(through.out, HasSubstr("Jobs      3 started in "));
    const Output none = server.command({"pbs_simulate", "--days", "19990101-19991231", "--server"});
    EXPECT_EQ(none.exit, 2);
    EXPECT_THAT(none.err, HasSubstr("there are none from 19990101 to 19991231"));
    for (const std::string bad : {"2026", "20261101-", "20261101-2", "../20261101"})
        EXPECT_EQ(server.command({"pbs_simulate", "--days", bad, "--server"}).exit, 1) << bad;
    EXPECT_EQ(server.command({"pbs_simulate", "--days", day}).exit, 1) << "of which server?";
    if (const auto user = other()) {
        const Output refused = server.command_as(*user, {"pbs_simulate", "--days", day, "--server"});
        EXPECT_EQ(refused.exit, 2);
        EXPECT_THAT(refused.err, HasSubstr("Unauthorized Request"));
        ASSERT_TRUE(server.configure({"set server managers += " + user->name + "@*"}));
        const Output allowed = server.command_as(*user, {"pbs_simulate", "--days", day, "--server"});
        EXPECT_EQ(allowed.exit, 0) << allowed;
        EXPECT_EQ(allowed.out, through.out);
    }

    const std::string document = (server.work() / "site.json").string();
    ASSERT_EQ(server.command({"pbs_config", "export", document}).exit, 0);
    const Output read =
        server.command({"pbs_simulate", "--accounting", log, "--config", document, "--time-zone", "UTC"});
    EXPECT_EQ(read.exit, 0) << read;
    EXPECT_EQ(read.out, asked.out);
    ASSERT_TRUE(server.stop());
    const Output gone = server.command({"pbs_simulate", "--accounting", log, "--server"});
    EXPECT_EQ(gone.exit, 2);
    EXPECT_THAT(gone.err, HasSubstr("can not connect to the default server"));
}

}  // namespace
}  // namespace pbs::e2e
