// Tests the history of changes, with pbs_config: a manager may read it and roll back to a revision, other
// users may not.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// pbs_config's exit status for error PBSE_PERM (15007), which is its low byte.
constexpr int kNoPermission = 15007 & 0xff;

class History : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(
            server.configure({"create queue q1 queue_type=execution", "create policy p1 by_queue=False",
                              "set policy p1 strict_ordering=True"}));
    }
    Output config(std::vector<std::string> arguments, RunOptions options = {}) const {
        arguments.insert(arguments.begin(), "pbs_config");
        return server.command(arguments, std::move(options));
    }
    // Returns the number of the latest revision.
    std::string revision() const {
        const Output rows = config({"history", "--limit", "1"});
        std::istringstream in(rows.out);
        std::string number;
        in >> number;
        return number;
    }
    std::string exported() const {
        const Output output = config({"export"});
        EXPECT_EQ(output.exit, 0) << output;
        return output.out;
    }
    std::filesystem::path file(const std::string& name, const std::string& text) const {
        auto path = server.work() / name;
        std::ofstream(path) << text;
        return path;
    }

    Server server;
};

TEST_F(History, ListsWhoChangedWhat) {
    const Output listed = config({"history"});
    EXPECT_EQ(listed.exit, 0) << listed;
    EXPECT_THAT(listed.out, AllOf(HasSubstr("create policy p1 by_queue = False\n"),
                                  HasSubstr("set policy p1 strict_ordering = True\n"), HasSubstr("@")));
    const Output one = config({"history", "--object", "policy p1", "--limit", "1"});
    EXPECT_THAT(one.out, AllOf(HasSubstr("set policy p1"), Not(HasSubstr("create policy p1"))));
    EXPECT_EQ(config({"history", "--since", "2130-01-01"}).out, "");
    EXPECT_THAT(config({"history", "--json", "--object", "p p1"}).out,
                HasSubstr("\"strict_ordering\": \"True\""));
    EXPECT_EQ(config({"history", "--since", "yesterday"}).exit, 2);
    const Output refused = config({"history", "--object", "job 1"});
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("bad value 'job'"));
}

TEST_F(History, ListsWhatWasChangedBetweenTwoTimes) {
    NEEDS(injected_clock);
    EXPECT_THAT(config({"history", "--since", "2026-11-23T00:00", "--until", "2026-11-24"}).out,
                HasSubstr("create policy p1"));
    EXPECT_EQ(config({"history", "--since", "2030-01-01"}).out, "");
}

TEST_F(History, ListsWhatTheServerKeepsItself) {
    NEEDS(history_of_server);
    EXPECT_THAT(config({"history", "--object", "queue q1"}).out,
                HasSubstr("create queue q1 queue_type = execution\n"));
}

TEST_F(History, ShowsDifferencesAndGoesBack) {
    const std::string before = exported();
    const std::string then = revision();
    ASSERT_TRUE(server.configure({"set policy p1 by_queue=True, comment=\"late, too late\"",
                                  "create policy p2", "set sched default policy=p2"}));
    const Output diff = config({"diff", then});
    EXPECT_THAT(diff.out, AllOf(HasSubstr("policy p1\n-    by_queue = False\n+    by_queue = True\n"),
                                HasSubstr("policy p2 (created)\n"), HasSubstr("+    policy = p2\n")));
    const Output lost = config({"rollback", std::to_string(std::stoi(then) - 1), "--object", "policy p2"});
    EXPECT_NE(lost.exit, 0);
    EXPECT_THAT(lost.err, HasSubstr("policy p2 is in use by sched default"));
    for (const char* bad : {"x", "-1", "1.5", "99999999999999999999"})
        for (const char* command : {"rollback", "diff"}) {
            const Output none = config({command, bad});
            EXPECT_NE(none.exit, 0) << command << ' ' << bad;
            EXPECT_THAT(none.err, HasSubstr("'" + std::string(bad) +
                                            "' is no revision: expected a number of pbs_config history"));
        }
    const Output dry = config({"rollback", then, "--dry-run"});
    EXPECT_EQ(dry.exit, 0) << dry;
    EXPECT_THAT(dry.out, HasSubstr("policy p2 is deleted\n"));
    EXPECT_NE(exported(), before);
    const Output done = config({"rollback", then});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_EQ(done.out, dry.out);
    EXPECT_EQ(exported(), before);
    EXPECT_THAT(config({"history", "--limit", "1"}).out, HasSubstr("rollback to revision " + then + ": "));
    EXPECT_EQ(config({"rollback", then}).out, "nothing to change\n");
    // the policy that the rollback restored survives a restart, and is in force
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    EXPECT_EQ(exported(), before);
    EXPECT_EQ(server.attribute("sched default", "active_policy"), "default_policy");
}

TEST_F(History, DifferencesGoThroughQmgr) {
    const std::string before = exported();
    const std::string then = revision();
    ASSERT_TRUE(
        server.configure({"unset policy p1 by_queue", "create fs_group g1 tree_element='a:root=1,b:a=2'",
                          "create time_window t1 rrule=FREQ=DAILY, comment='a, b'",
                          "set queue q1 time_window=t1, Priority=4", "set policy p1 fairshare_group=g1",
                          "create resource fuel type=long", "set server resources_available.fuel=3",
                          "create queue q2 queue_type=execution", "set policy p1 dedicated_queues=q2"}));
    const std::string after = exported();
    const Output directives = config({"diff", then, revision(), "--qmgr"});
    ASSERT_EQ(directives.exit, 0) << directives;
    ASSERT_EQ(config({"rollback", then}).exit, 0);
    ASSERT_EQ(exported(), before);
    RunOptions input;
    input.input = directives.out;
    const Output fed = server.command({"qmgr"}, input);
    EXPECT_EQ(fed.exit, 0) << fed << directives;
    EXPECT_EQ(exported(), after);
}

TEST_F(History, ExportIntoAnotherServerIsTheSameBytes) {
    ASSERT_TRUE(server.configure({"create time_window t1 rrule=FREQ=DAILY", "set queue q1 time_window=t1",
                                  "set server non_work_days='01/01'", "set sched default policy=p1"}));
    const auto path = server.work() / "configuration.json";
    ASSERT_EQ(config({"export", path.string()}).exit, 0);
    const std::string text = exported();
    std::ifstream in(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);

    Server other;
    ASSERT_TRUE(other.start());
    ASSERT_TRUE(other.configure({"create queue q1 queue_type=execution"}));
    const Output dry = other.command({"pbs_config", "import", path.string(), "--dry-run"});
    EXPECT_EQ(dry.exit, 0) << dry;
    EXPECT_THAT(dry.out, HasSubstr("policy p1 is created"));
    EXPECT_NE(other.command({"pbs_config", "export"}).out, text);
    EXPECT_EQ(other.command({"pbs_config", "import", path.string()}).exit, 0);
    EXPECT_EQ(other.command({"pbs_config", "export"}).out, text);
}

// The history includes the bundled server's own objects, such as queues, unless an option leaves them out.
TEST_F(History, TheServersOwnPart) {
    NEEDS(history_of_server);
    const std::string then = revision();
    const std::string before = exported();
    ASSERT_TRUE(server.configure(
        {"set queue q1 enabled=True, resources_max.ncpus=4, Priority=7",
         "create queue q2 queue_type=route, route_destinations=q1", "create resource fuel type=long, flag=q",
         "set server resources_available.fuel=10", "set server managers += someone@*",
         "set sched default comment='two words'", "create sched s2 partition=part2"}));
    const Output diff = config({"diff", then});
    EXPECT_THAT(diff.out, AllOf(HasSubstr("server\n"), HasSubstr("+    resources_available.fuel = 10\n"),
                                HasSubstr("queue q1\n"), HasSubstr("queue q2 (created)\n"),
                                HasSubstr("resource fuel (created)\n"), HasSubstr("sched s2 (created)\n")));
    const std::string later = revision();
    const std::string after = exported();
    const Output back = config({"rollback", then});
    EXPECT_EQ(back.exit, 0) << back;
    EXPECT_THAT(back.out, AllOf(HasSubstr("queue q2 is deleted\n"), HasSubstr("resource fuel is deleted\n")));
    EXPECT_EQ(exported(), before);
    EXPECT_EQ(config({"rollback", later}).exit, 0);
    EXPECT_EQ(exported(), after);
    EXPECT_EQ(server.attribute("queue q1", "resources_max.ncpus"), "4");
    const Output without = config({"export", "--without-server"});
    EXPECT_EQ(without.exit, 0) << without;
    EXPECT_THAT(without.out, AllOf(HasSubstr("\"p1\""), Not(HasSubstr("fuel"))));
    EXPECT_THAT(config({"export"}).out, HasSubstr("\"fuel\": {\"type\": \"long\", \"flag\": \"q\"}"));
}

TEST_F(History, ImportIsCheckedAsAWhole) {
    const std::string before = exported();
    const Output broken = config({"import", file("broken.json", "{\n  \"format\": 1,\n}").string()});
    EXPECT_NE(broken.exit, 0);
    EXPECT_THAT(broken.err, HasSubstr("pbs_config: line 3, column 1: "));
    const Output wrong = config({"import", "-"}, {.input = R"({"format": 1,
        "policy": {"p7": {}, "p8": {"by_queue": "perhaps"}, "p9": {"fairshare_group": "nobody"}}})"});
    EXPECT_NE(wrong.exit, 0);
    EXPECT_THAT(wrong.err, HasSubstr("pbs_config: policy p8: by_queue: bad value 'perhaps'"));
    EXPECT_THAT(config({"import", "--replace", "-"}, {.input = R"({"format": 1})"}).err,
                HasSubstr("default_policy cannot be deleted"));
    EXPECT_EQ(config({"import", "/nonexistent"}).exit, 1);
    EXPECT_EQ(exported(), before);
    EXPECT_EQ(
        config({"import", "--replace", "-"}, {.input = R"({"format": 1, "policy": {"default_policy": {}}})"})
            .exit,
        0);
    EXPECT_THAT(exported(), Not(HasSubstr("p1")));
}

TEST_F(History, OthersAreRefused) {
    if (!other()) GTEST_SKIP() << "needs another user";
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"history"},
                                                      {"diff", "3"},
                                                      {"rollback", "3"},
                                                      {"export"},
                                                      {"import", "-"}}) {
        std::vector<std::string> command{"pbs_config"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        const Output output = server.command_as(*other(), command, {.input = "{}"});
        EXPECT_EQ(output.exit, kNoPermission) << output;
        EXPECT_EQ(output.out, "");
        EXPECT_NE(output.err, "");
    }
    ASSERT_TRUE(server.configure({"set server operators += " + other()->name + "@*"}));
    EXPECT_EQ(server.command_as(*other(), {"pbs_config", "history"}).exit, 0);
    EXPECT_EQ(server.command_as(*other(), {"pbs_config", "rollback", "3"}).exit, kNoPermission);
}

TEST_F(History, WrongUsageIsExplained) {
    EXPECT_EQ(config({}).exit, 2);
    EXPECT_EQ(config({"rollback", "x"}).exit, 2);
    EXPECT_EQ(config({"history", "--limit", "0"}).exit, 2);
    const Output help = config({"--help"});
    EXPECT_EQ(help.exit, 0);
    for (const char* command : {"history", "diff", "rollback", "export", "import", "TIME is"})
        EXPECT_THAT(help.out, HasSubstr(command));
    EXPECT_THAT(config({"rollback", "99"}).err,
                HasSubstr("there is no revision 99: the last one is " + revision()));
}

// Kills the server some milliseconds after the start of an import. The import has then been made as a whole
// or not at all.
TEST_F(History, KilledImportIsAllOrNothing) {
    std::string text = R"({"format": 1, "policy": {)";
    for (int i = 0; i < 2000; ++i)
        text += (i == 0 ? "\"n" : ", \"n") + std::to_string(i) + R"(": {"comment": "x"})";
    text += "}}";
    const auto path = file("many.json", text).string();
    bool any_killed = false;
    const std::string then = revision();
    for (const int delay : {1, 5, 20, 60, 150}) {
        const std::string before = exported();
        std::thread killer([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(delay));
            server.kill9();
        });
        const Output output = config({"import", path});
        killer.join();
        any_killed = any_killed || output.exit != 0;
        ASSERT_TRUE(server.start());
        const std::string after = exported();
        const bool all =
            after.find("\"n0\"") != std::string::npos && after.find("\"n1999\"") != std::string::npos;
        EXPECT_TRUE(all || after == before) << "after " << delay << " ms";
        if (output.exit == 0) {
            EXPECT_TRUE(all) << "acknowledged";
        }
        ASSERT_EQ(config({"rollback", then}).exit, 0);
        ASSERT_EQ(exported().find("\"n0\""), std::string::npos);
    }
    EXPECT_TRUE(any_killed) << "no kill came in time: the test says nothing";
}

}  // namespace
}  // namespace pbs::e2e
