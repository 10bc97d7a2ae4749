// Tests qsub -W block=true and qsub -I, which connect to the server through sockets as OpenPBS's qsub does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// Value of a variable that contains every character with a meaning in lists of variables.
constexpr const char* kOdd = "it's, \"a\\,b\\\"=\n;c ";

class WaitingQsub : public OriginServer {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({"set server job_history_enable=True"}));
    }
    Output qsub(std::vector<std::string> options, const std::string& script) const {
        options.insert(options.begin(), {"qsub", "-S", "/bin/sh"});
        RunOptions run;
        run.input = script;
        run.folder = server.work();
        return server.command_as(runner(), options, run);
    }
    // Runs qsub on a pseudo-terminal. Types `typed` as soon as an interrupt key reaches only qsub and the
    // job.
    Output on_terminal(const std::string& options, const std::string& typed, int seconds = 20) const {
        RunOptions run;
        run.input = typed;
        run.folder = server.work();
        run.environment = {{"TERM", "vt220"}, {"SHELL", "/bin/sh"}, {"ODD", kOdd}};
        run.timeout = std::chrono::seconds(seconds);
        const std::string session = "stty rows 33 cols 91 -isig; : >$ready; " + program("qsub").string() +
                                    " -I -S /bin/sh " + options;
        const std::string terminal =
            "export ready=$(mktemp -u); (until [ -e $ready ]; do sleep 0.05; done; cat) | "
            "/usr/bin/script -qec '" +
            session + "' /dev/null; code=$?; rm -f $ready; exit $code";
        return server.command_as(runner(), {"/bin/sh", "-c", terminal}, run);
    }
    std::string last_job() const {
        const std::string all = server.command({"qselect", "-x"}).out;
        const std::string lines = all.substr(0, all.find_last_not_of('\n') + 1);
        return lines.substr(lines.rfind('\n') + 1);
    }
};

TEST_F(WaitingQsub, BlockEndsWithTheExitStatusOfTheJob) {
    const Output three = qsub({"-W", "block=true"}, "exit 3\n");
    EXPECT_EQ(three.exit, 3) << three;
    EXPECT_THAT(three.out, ContainsRegex("^[0-9]+\\."));
    EXPECT_EQ(qsub({"-z"}, "#PBS -W block=true\nexit 0\n").exit, 0);
    EXPECT_EQ(qsub({"-W", "block=true"}, "kill -9 $$\n").exit, 9) << "265: its low byte";
    EXPECT_EQ(qsub({"-W", "block=false"}, "exit 3\n").exit, 0);
    EXPECT_EQ(qsub({"-W", "block=perhaps"}, "exit 3\n").exit, 2);
}

TEST_F(WaitingQsub, BlockSaysIfTheJobNeverRan) {
    auto waiting = std::async(std::launch::async, [&] {
        return qsub({"-h", "-W", "block=true"}, "exit 0\n");
    });
    ASSERT_TRUE(wait_for([&] { return !last_job().empty(); }));
    const std::string id = last_job();
    ASSERT_EQ(server.command_as(runner(), {"qdel", id}).exit, 0);
    const Output deleted = waiting.get();
    EXPECT_EQ(deleted.exit, 3) << deleted;
    EXPECT_THAT(deleted.err, HasSubstr(id));
    const Output rejected = qsub({"-W", "block=true,depend=afterok:9999"}, "exit 0\n");
    EXPECT_EQ(rejected.exit, 3) << rejected;
}

// A job that isn't started within the time that it asks for is rejected, and its qsub ends with the reason.
TEST_F(WaitingQsub, EndsWithTheReasonOfAJobThatIsRejected) {
    ASSERT_TRUE(server.configure(
        {"set policy default_policy algorithm=standard", "create resource start_within type=long"}));
    const Output blocked =
        qsub({"-W", "block=true", "-l", "select=1:ncpus=9999", "-l", "start_within=0"}, "exit 0\n");
    EXPECT_EQ(blocked.exit, 3) << blocked;
    EXPECT_THAT(blocked.err, HasSubstr("has ended without having run: Not started within 0 s: "));
    if (access("/usr/bin/script", X_OK) != 0) GTEST_SKIP() << "/usr/bin/script is not installed";
    const Output session = on_terminal("-l select=1:ncpus=9999 -l start_within=0", "");
    EXPECT_EQ(session.exit, 1) << session;
    EXPECT_FALSE(session.timed_out);
    EXPECT_THAT(session.out, HasSubstr("has ended without having run: Not started within 0 s: "));
}

TEST_F(WaitingQsub, BlockSurvivesAServerThatIsKilled) {
    auto waiting = std::async(std::launch::async, [&] {
        return qsub({"-W", "block=true"}, "sleep 2; exit 4\n");
    });
    ASSERT_TRUE(wait_for([&] { return !last_job().empty() && server.job(last_job(), "job_state") == "R"; }));
    server.kill9();
    std::this_thread::sleep_for(std::chrono::seconds(3));
    ASSERT_TRUE(server.start());
    const Output ended = waiting.get();
    EXPECT_EQ(ended.exit, 4) << ended;
}

TEST_F(WaitingQsub, ASignalDeletesTheJobThatIsWaitedFor) {
    const Output interrupted =
        server.command_as(runner(), {"/usr/bin/timeout", "-s", "INT", "1", program("qsub").string(), "-h",
                                     "-W", "block=true", "--", "/bin/true"});
    EXPECT_THAT(interrupted.err, HasSubstr("interrupted by signal 2"));
    EXPECT_THAT(interrupted.out, HasSubstr("is being deleted"));
    EXPECT_TRUE(server.wait_job_state(last_job(), "F"));
}

TEST_F(WaitingQsub, AnInteractiveJobHasTheTerminal) {
    if (access("/usr/bin/script", X_OK) != 0) GTEST_SKIP() << "/usr/bin/script is not installed";
    const Output session =
        on_terminal("-l walltime=100 -v ODD", "printenv ODD >" + (server.work() / "odd").string() +
                                                  "; echo answer=$((6*7)); stty size; test -t 0 && echo it "
                                                  "is $TERM; echo $PBS_ENVIRONMENT; exit 5\n");
    EXPECT_EQ(session.exit, 0) << session;
    for (const char* text :
         {"waiting for job", "ready", "answer=42", "33 91", "it is vt220", "PBS_INTERACTIVE", "completed"})
        EXPECT_THAT(session.out, HasSubstr(text));
    std::ostringstream odd;
    odd << std::ifstream(server.work() / "odd").rdbuf();
    EXPECT_EQ(odd.str(), kOdd + std::string("\n"));
    const std::string id = last_job();
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_EQ(server.job(id, "Exit_status"), "5");
    EXPECT_EQ(server.job(id, "interactive"), "True");
    EXPECT_EQ(server.job(id, "Rerunable"), "False");
    EXPECT_FALSE(std::filesystem::exists(server.work() / ("STDIN.o" + id.substr(0, id.find('.')))));
}

TEST_F(WaitingQsub, InterruptsReachTheJobAndLeavingEndsIt) {
    if (access("/usr/bin/script", X_OK) != 0) GTEST_SKIP() << "/usr/bin/script is not installed";
    const Output session =
        on_terminal("", "trap 'echo caught' INT\nsleep 60\n\003\necho after\nsleep 70\n~.");
    EXPECT_EQ(session.exit, 0) << session;
    EXPECT_FALSE(session.timed_out);
    const std::string id = last_job();
    EXPECT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_THAT(server.log(), HasSubstr("its qsub has gone"));
}

TEST_F(WaitingQsub, IsRefusedWithoutATerminalAndForPortsOfOthers) {
    const Output piped = qsub({"-I"}, "");
    EXPECT_EQ(piped.exit, 1);
    EXPECT_THAT(piped.err, HasSubstr("must be a terminal"));
    EXPECT_EQ(last_job(), "");
}

}  // namespace
}  // namespace pbs::e2e
