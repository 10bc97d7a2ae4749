// Tests clients that use TCP, as from other hosts, and prove who their user is by MUNGE or by a port below
// 1024.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/e2e/harness.h"
#include "tests/munged.h"

namespace pbs::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class MungeTest : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (test::Munged::program().empty()) GTEST_SKIP() << test::Munged::kMissing;
        munged.emplace();
        ASSERT_TRUE(munged->running());
    }
    void start(const std::string& methods) {
        server.emplace(Server::Options{
            .arguments = {"--auth-methods", methods, "--munge-socket", munged->socket(), "--name", "here"}});
        ASSERT_TRUE(server->start());
        ASSERT_TRUE(server->configure({"create queue work queue_type=execution, enabled=True, started=True",
                                       "set server default_queue=work",
                                       "create node n1 resources_available.ncpus=4"}));
    }
    // Runs a command over TCP. `environment` chooses the way of authentication.
    Output command(const User& user, const std::vector<std::string>& argv,
                   std::map<std::string, std::string> environment, const std::string& input = {}) const {
        environment.emplace("PBS_CONF_FILE", "/nonexistent");
        environment.emplace("PBS_SERVER", "127.0.0.1");
        environment.emplace("PBS_BATCH_SERVICE_PORT", std::to_string(server->port()));
        environment.emplace("HOME", server->work().string());
        RunOptions options{.input = input, .environment = std::move(environment), .folder = server->work()};
        if (geteuid() == 0) options.uid = user.uid;
        return run(argv, options);
    }
    std::map<std::string, std::string> by_munge() const {
        return {{"PBS_AUTH_METHOD", "munge"}, {"PBS_MUNGE_SOCKET", munged->socket()}};
    }

    std::optional<test::Munged> munged;
    std::optional<Server> server;
};

TEST_F(MungeTest, AUserIsKnownByHisCredential) {
    start("munge");
    const Output submitted =
        command(runner(), {"qsub", "-S", "/bin/sh", "-l", "walltime=100"}, by_munge(), "sleep 100\n");
    ASSERT_EQ(submitted.exit, 0) << submitted;
    const std::string id = submitted.out.substr(0, submitted.out.find('\n'));
    EXPECT_THAT(server->job(id, "Job_Owner"), HasSubstr(runner().name + "@"));
    const Output shown = command(runner(), {"qstat", id}, by_munge());
    EXPECT_EQ(shown.exit, 0) << shown;
    EXPECT_THAT(shown.out, HasSubstr(runner().name));
    if (other()) {
        const Output denied = command(*other(), {"qdel", id}, by_munge());
        EXPECT_NE(denied.exit, 0);
        EXPECT_THAT(server->log(),
                    ContainsRegex(";0020;.*refused: DeleteJob[A-Za-z]* .*by " + other()->name));
    }
    const Output deleted = command(runner(), {"qdel", id}, by_munge());
    EXPECT_EQ(deleted.exit, 0) << deleted;
}

// A test server accepts only the methods that it was started with. With MUNGE alone, a port below 1024
// doesn't prove that the client is root.
TEST_F(MungeTest, OneMethodCountsOrBoth) {
    start("munge");
    const User root{0, 0, "root"};
    if (geteuid() == 0) {
        const Output refused = command(root, {"qstat", "-B"}, {});
        EXPECT_NE(refused.exit, 0);
        EXPECT_THAT(server->log(), HasSubstr("authentication method \"resvport\" isn't supported"));
    }
    EXPECT_EQ(command(runner(), {"qstat", "-B"}, by_munge()).exit, 0);
    ASSERT_TRUE(server->stop());
    start("resvport");
    const Output refused = command(runner(), {"qstat", "-B"}, by_munge());
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("the server refused authentication by MUNGE"));
    ASSERT_TRUE(server->stop());
    start("resvport,munge");
    EXPECT_EQ(command(runner(), {"qstat", "-B"}, by_munge()).exit, 0);
    if (geteuid() == 0) {
        EXPECT_EQ(command(root, {"qstat", "-B"}, {}).exit, 0);
    }
}

TEST_F(MungeTest, AnotherKeyIsNobodys) {
    start("munge");
    const test::Munged stranger;
    ASSERT_TRUE(stranger.running());
    auto environment = by_munge();
    environment["PBS_MUNGE_SOCKET"] = stranger.socket();
    const Output refused = command(runner(), {"qstat", "-B"}, environment);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err,
                HasSubstr("the server refused the authentication: MUNGE refuses the credential"));
    const test::Munged known(&*munged);
    environment["PBS_MUNGE_SOCKET"] = known.socket();
    EXPECT_EQ(command(runner(), {"qstat", "-B"}, environment).exit, 0) << "another host with the key";
}

TEST_F(MungeTest, WithoutADaemonAClientIsToldSo) {
    start("munge");
    auto environment = by_munge();
    environment["PBS_MUNGE_SOCKET"] = "/nonexistent";
    const Output refused = command(runner(), {"qstat", "-B"}, environment);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("MUNGE makes no credential"), HasSubstr("/nonexistent")));
}

// Servers authenticate to each other by MUNGE, too, for example to move a job.
TEST_F(MungeTest, AServerSendsAJobToAnother) {
    if (geteuid() != 0) GTEST_SKIP() << "servers that run as root take jobs of others";
    start("munge");
    auto environment = by_munge();
    environment["PBS_CONF_FILE"] = "/nonexistent";
    Server there({.arguments = {"--name", "there"}, .environment = environment});
    ASSERT_TRUE(there.start());
    ASSERT_TRUE(there.configure({"create queue work queue_type=execution, enabled=True, started=True",
                                 "set server default_queue=work, scheduling=False"}));
    ASSERT_TRUE(server->configure({"set server flatuid=True, scheduling=False"}));
    const std::string id = there.submit("true\n");
    ASSERT_NE(id, "");
    const Output moved = there.command({"qmove", "work@localhost:" + std::to_string(server->port()), id});
    EXPECT_EQ(moved.exit, 0) << moved;
    EXPECT_EQ(server->job(id, "job_state"), "Q");
    EXPECT_THAT(server->log(), HasSubstr("a connection of root by MUNGE"));
}

TEST(AuthMethods, ThatArentKnownEndTheStart) {
    NEEDS(own_server);
    Server server({.arguments = {"--auth-methods", "munge,gss"}});
    const Output refused = server.start_refused();
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err + refused.out,
                HasSubstr("authentication methods \"munge,gss\": resvport or munge expected, found \"gss\""));
}

}  // namespace
}  // namespace pbs::e2e
