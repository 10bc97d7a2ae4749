// Tests commands of operators, and commands for running jobs: qsig, qmsg, qorder, qrerun, qenable and its
// like, qterm, tracejob.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class OperatorCommands : public OriginServer {
  protected:
    Output as_runner(const std::vector<std::string>& argv) const { return server.command_as(runner(), argv); }
    int status(const std::vector<std::string>& argv) const { return server.command(argv).exit; }
    std::string file(const std::string& name) const { return pbs::test::file_text(server.work() / name); }
    std::string running(const std::string& script, const std::vector<std::string>& options = {}) const {
        std::string id = server.submit(script, options);
        EXPECT_TRUE(server.wait_job_state(id, "R"));
        return id;
    }
};

TEST_F(OperatorCommands, QsigAndQmsgReachARunningJob) {
    NEEDS(output_at_once);
    const std::string id = running("trap 'echo usr1; exit 5' USR1\necho ready\nwhile :; do sleep 0.1; done\n",
                                   {"-N", "s", "-S", "/bin/sh"});
    const std::string number = id.substr(0, id.find('.'));
    ASSERT_TRUE(wait_for([&] { return file("s.o" + number) == "ready\n"; }));
    EXPECT_EQ(as_runner({"qsig", "-s", "null", id}).exit, 0);
    EXPECT_EQ(as_runner({"qsig", "-s", "FOO", id}).exit, 165);
    EXPECT_EQ(as_runner({"qsig", "-s", "suspend", id}).exit, 159);
    EXPECT_EQ(as_runner({"qmsg", "-O", "hello there", id}).exit, 0);
    EXPECT_EQ(as_runner({"qmsg", "to the errors", id}).exit, 0);
    EXPECT_EQ(file("s.o" + number), "ready\nPBS: hello there\n");
    EXPECT_EQ(file("s.e" + number), "PBS: to the errors\n");
    EXPECT_EQ(status({"qsig", "-s", "suspend", id}), 0);
    EXPECT_EQ(server.job(id, "job_state"), "S");
    EXPECT_EQ(status({"qsig", "-s", "resume", id}), 0);
    EXPECT_EQ(as_runner({"qsig", "-s", "SIGUSR1", id, "9999"}).exit, 153) << "the last failure counts";
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_THAT(file("s.o" + number), HasSubstr("usr1"));
    EXPECT_NE(as_runner({"qmsg", "too late", id}).exit, 0);
    for (const auto& wrong :
         {std::vector<std::string>{"qsig"}, {"qsig", "-x", id}, {"qmsg", "alone"}, {"qmsg", "-q", "x", id}})
        EXPECT_EQ(as_runner(wrong).exit, 2);
}

TEST_F(OperatorCommands, QrerunQueuesAJobAgain) {
    const std::string id = running("sleep 60\n");
    EXPECT_EQ(server.job(id, "run_count"), "1");
    ASSERT_EQ(status({"qrerun", id}), 0);
    EXPECT_TRUE(wait_for([&] { return server.job(id, "run_count") == "2"; }));
    EXPECT_THAT(server.accounting(), ContainsRegex(";R;" + id + ";.*Exit_status=-11"));
    const std::string once = running("sleep 60\n", {"-r", "n"});
    EXPECT_EQ(status({"qrerun", once}), 190);
    EXPECT_EQ(status({"qrerun", "-W", "soft", once}), 2);
    EXPECT_EQ(status({"qrerun", "-W", "force", once}), 0);
    EXPECT_TRUE(wait_for([&] { return server.job(once, "run_count") == "2"; }));
}

TEST_F(OperatorCommands, QueuesAreSwitchedAndJobsOrdered) {
    ASSERT_EQ(status({"qstop", "submit", "batch"}), 0);
    EXPECT_EQ(server.attribute("queue batch", "started"), "False");
    const std::string a = server.submit("sleep 60\n");
    const std::string b = server.submit("sleep 60\n");
    const std::string rank_of_a = server.job(a, "queue_rank");
    ASSERT_EQ(as_runner({"qorder", a, b}).exit, 0);
    EXPECT_EQ(server.job(b, "queue_rank"), rank_of_a);
    EXPECT_EQ(as_runner({"qorder", a}).exit, 2);
    EXPECT_EQ(as_runner({"qorder", a, "9999"}).exit, 153);
    EXPECT_EQ(as_runner({"qorder", "x", a}).exit, 1);
    ASSERT_EQ(status({"qdisable", "submit"}), 0);
    EXPECT_NE(as_runner({"qsub", "--", "/bin/true"}).exit, 0);
    EXPECT_EQ(status({"qenable", "submit"}), 0);
    EXPECT_EQ(status({"qstart", "submit", "nowhere", "batch"}), 2);
    EXPECT_EQ(server.attribute("queue batch", "started"), "True") << "behind the one that failed";
    EXPECT_EQ(status({"qstart"}), 1);
    EXPECT_EQ(status({"qstart", "a b"}), 1);
    if (geteuid() == 0) {
        EXPECT_EQ(as_runner({"qstop", "batch"}).exit, 2) << "not an operator";
        EXPECT_EQ(server.attribute("queue batch", "started"), "True");
    }
}

TEST_F(OperatorCommands, TracejobTellsALife) {
    const std::string id = server.submit("exit 3\n");
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    const Output none = server.command({"tracejob", "-p", "/nonexistent", "-v", id});
    EXPECT_EQ(none.exit, 1) << none;
    EXPECT_THAT(none.err, AllOf(HasSubstr("No such file"), HasSubstr("Couldn't find Job Id " + id)));
    EXPECT_EQ(status({"tracejob"}), 1);
    EXPECT_EQ(status({"tracejob", "-f", "foo", id}), 1);
}

TEST_F(OperatorCommands, QtermEndsTheServerInEachManner) {
    NEEDS(own_server);
    const std::string again = running("sleep 60\n");
    const std::string once = running("sleep 2\n", {"-r", "n"});
    if (geteuid() == 0) {
        EXPECT_EQ(as_runner({"qterm"}).exit, 2) << "not an operator";
    }
    EXPECT_EQ(status({"qterm", "-t", "later"}), 1);
    EXPECT_EQ(status({"qterm", "-f"}), 2) << "there is no secondary server";
    ASSERT_EQ(status({"qterm", "-t", "delay"}), 0);
    EXPECT_NE(as_runner({"qsub", "--", "/bin/true"}).exit, 0);
    EXPECT_TRUE(wait_for([&] { return !server.running(); }));
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(once, "Exit_status"), "0") << "it ran to its end";
    EXPECT_EQ(server.job(again, "job_state"), "Q");
    ASSERT_EQ(status({"qmove", "submit", again}), 0) << "as the policy wants it at a start";
    ASSERT_TRUE(server.wait_job_state(again, "R"));
    EXPECT_EQ(server.job(again, "run_count"), "2");
    ASSERT_EQ(status({"qterm"}), 0);
    EXPECT_TRUE(wait_for([&] { return !server.running(); }));
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(again, "run_count"), "2") << "quick: it went on";
    ASSERT_EQ(status({"qterm", "-t", "immediate", "-m", "-s"}), 0);
    EXPECT_TRUE(wait_for([&] { return !server.running(); }));
    ASSERT_TRUE(server.start());
}

}  // namespace
}  // namespace pbs::e2e
