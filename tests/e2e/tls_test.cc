// Tests commands and servers that connect to a server by TLS: how they prove their user, and faulty
// connections.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "tests/certificates.h"
#include "tests/e2e/harness.h"
#include "tests/munged.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Root's commands prove their user by a port below 1024. Other users' commands do so by a munged that the
// test starts.
class TlsE2eTest : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (!test::Certificates::can_be_made()) GTEST_SKIP() << test::Certificates::kMissing;
        if (geteuid() != 0 && test::Munged::program().empty()) GTEST_SKIP() << test::Munged::kMissing;
        if (geteuid() != 0) munged.emplace();
        ASSERT_TRUE(made.make("DNS:localhost,IP:127.0.0.1"));
    }
    Server::Options options(std::vector<std::string> more = {}) const {
        Server::Options chosen;
        chosen.arguments = {"--name",           "here",      "--tls-certificate",
                            made.certificate(), "--tls-key", made.key()};
        if (munged)
            chosen.arguments.insert(chosen.arguments.end(),
                                    {"--auth-methods", "munge", "--munge-socket", munged->socket()});
        chosen.arguments.insert(chosen.arguments.end(), more.begin(), more.end());
        return chosen;
    }
    void start(std::vector<std::string> more = {}) {
        server.emplace(options(std::move(more)));
        ASSERT_TRUE(server->start());
    }
    std::map<std::string, std::string> in_the_clear() const {
        std::map<std::string, std::string> environment{
            {"PBS_CONF_FILE", "/nonexistent"},
            {"PBS_SERVER", "localhost"},
            {"PBS_BATCH_SERVICE_PORT", std::to_string(server->port())}};
        if (munged) {
            environment["PBS_AUTH_METHOD"] = "munge";
            environment["PBS_MUNGE_SOCKET"] = munged->socket();
        }
        return environment;
    }
    std::map<std::string, std::string> by_tls() const {
        auto environment = in_the_clear();
        environment["PBS_ENCRYPT_METHOD"] = "tls";
        environment["PBS_TLS_CA"] = made.authority();
        return environment;
    }
    Output ask(std::map<std::string, std::string> environment,
               const std::vector<std::string>& argv = {"qstat", "-B"}) const {
        return run(argv, {.environment = std::move(environment), .folder = server->work()});
    }
    void expect_refused(std::map<std::string, std::string> environment, const std::string& why) const {
        const Output refused = ask(std::move(environment));
        EXPECT_NE(refused.exit, 0);
        EXPECT_THAT(refused.err, HasSubstr(why));
        EXPECT_EQ(refused.out, "");
    }

    test::Certificates made;
    std::optional<test::Munged> munged;
    std::optional<Server> server;
};

TEST_F(TlsE2eTest, CommandsAskByTlsAndInTheClear) {
    start();
    EXPECT_THAT(server->log(),
                HasSubstr("the certificate " + made.certificate() + " is in use, good until "));
    const Output shown = ask(by_tls());
    EXPECT_EQ(shown.exit, 0) << shown;
    EXPECT_THAT(shown.out, HasSubstr("here"));
    EXPECT_EQ(ask(in_the_clear()).exit, 0);
    const Output made_queue = ask(by_tls(), {"qmgr", "-c", "create queue work queue_type=execution"});
    EXPECT_EQ(made_queue.exit, 0) << made_queue;
    EXPECT_THAT(ask(by_tls(), {"qstat", "-Qf", "work"}).out, HasSubstr("queue_type = Execution"));
    // The settings may also come from a pbs.conf, as at a site.
    const std::string conf = (server->work() / "pbs.conf").string();
    std::ofstream(conf) << "PBS_SERVER=localhost\nPBS_ENCRYPT_METHOD=TLS\nPBS_TLS_CA=" << made.authority()
                        << "\nPBS_BATCH_SERVICE_PORT=" << server->port() << '\n';
    auto environment = in_the_clear();
    environment.erase("PBS_SERVER");
    environment.erase("PBS_BATCH_SERVICE_PORT");
    environment["PBS_CONF_FILE"] = conf;
    EXPECT_EQ(ask(environment).exit, 0);
}

// A long script arrives whole, and no packet contains a part of the submission unencrypted.
TEST_F(TlsE2eTest, AJobIsSubmittedAndItsScriptIsLong) {
    if (geteuid() != 0 || test::Munged::program().empty())
        GTEST_SKIP() << "a user's command and a munged are needed";
    munged.emplace();
    start();
    ASSERT_TRUE(server->configure({"create queue work queue_type=execution, enabled=True, started=False",
                                   "set server default_queue=work"}));
    std::string script = "true\n";
    while (script.size() < (std::size_t{3} << 20)) script += "# " + std::string(1000, 'x') + '\n';
    RunOptions as_user{.input = script, .environment = by_tls(), .folder = server->work()};
    as_user.uid = runner().uid;
    const Output submitted = run({"qsub", "-S", "/bin/sh"}, as_user);
    ASSERT_EQ(submitted.exit, 0) << submitted;
    const std::string id = submitted.out.substr(0, submitted.out.find('\n'));
    EXPECT_THAT(server->job(id, "Job_Owner"), HasSubstr(runner().name + "@"));
}

TEST_F(TlsE2eTest, ClientsRefuseAServerThatIsntTheRightOne) {
    start();
    const test::Certificates others;
    auto environment = by_tls();
    environment["PBS_TLS_CA"] = others.authority();
    expect_refused(environment,
                   "the server's certificate isn't accepted for localhost: unable to get local issuer");
    environment = by_tls();
    environment.erase("PBS_TLS_CA");
    expect_refused(environment, "the server's certificate isn't accepted for localhost: ");
    environment = by_tls();
    environment["PBS_TLS_NAME"] = "head.example.org";
    expect_refused(environment,
                   "the server's certificate isn't accepted for head.example.org: hostname mismatch");
    environment["PBS_TLS_NAME"] = "localhost";
    environment["PBS_SERVER"] = "127.0.0.1";
    EXPECT_EQ(ask(environment).exit, 0);
    environment["PBS_TLS_CA"] = "/nonexistent";
    expect_refused(environment, "/nonexistent: certificates of authorities in PEM expected");
    environment = by_tls();
    environment["PBS_ENCRYPT_METHOD"] = "gss";
    expect_refused(environment, "PBS_ENCRYPT_METHOD: tls expected, found \"gss\"");
}

TEST_F(TlsE2eTest, ANewCertificateIsTakenWithoutARestart) {
    start();
    ASSERT_TRUE(made.make("DNS:renamed"));
    auto environment = by_tls();
    environment["PBS_TLS_NAME"] = "renamed";
    EXPECT_TRUE(wait_for([&] { return ask(environment).exit == 0; }, std::chrono::seconds(60)));
    expect_refused(by_tls(), "hostname mismatch");
    EXPECT_TRUE(server->running());
}

TEST_F(TlsE2eTest, WhereItIsRequiredACommandInTheClearIsToldSo) {
    start({"--tls-required", "all"});
    expect_refused(in_the_clear(),
                   "this server takes requests by TLS only: PBS_ENCRYPT_METHOD=tls is to be set");
    EXPECT_EQ(ask(by_tls()).exit, 0);
    // A command on the server's machine uses the local socket, which needs no encryption.
    EXPECT_EQ(server->command({"qstat", "-B"}).exit, 0);
    EXPECT_THAT(server->log(), HasSubstr("in the clear"));
}

TEST_F(TlsE2eTest, ThereIsNoWayBackToTheClear) {
    server.emplace(Server::Options{});
    ASSERT_TRUE(server->start());
    expect_refused(by_tls(), "the server localhost doesn't take TLS: it answers in the clear");
}

TEST_F(TlsE2eTest, AServerWithoutAGoodCertificateDoesntStart) {
    const auto refusal = [&] {
        Server refused(options());
        const Output output = refused.start_refused();
        EXPECT_NE(output.exit, 0);
        return output.err + output.out;
    };
    ASSERT_TRUE(made.make("DNS:localhost", "server", "20200101000000Z", "20200201000000Z"));
    EXPECT_THAT(refusal(),
                HasSubstr(made.certificate() + ": the certificate has expired, at 2020-02-01 00:00:00 UTC"));
    ASSERT_TRUE(made.make("DNS:localhost"));
    ASSERT_EQ(chmod(made.key().c_str(), 0644), 0);
    EXPECT_THAT(refusal(), HasSubstr(made.key() + ": mode 0644: a key that its owner alone may read (0600)"));
    ASSERT_TRUE(made.make("DNS:localhost", "other"));
    fs::rename(made.key("other"), made.key());
    EXPECT_THAT(refusal(),
                HasSubstr(made.key() + ": the key isn't that of the certificate " + made.certificate()));
    fs::remove(made.certificate());
    EXPECT_THAT(refusal(), HasSubstr(made.certificate() + ": No such file or directory"));
}

// 200 connections begin a handshake and don't finish it. Other clients are served without a delay.
TEST_F(TlsE2eTest, HalfHandshakesHoldNobodyUp) {
    start();
    std::vector<int> half;
    for (int i = 0; i < 200; ++i) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<uint16_t>(server->port()));
        ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(send(fd, "\x16\x03\x01\x02\x00\x01\x00", 7, MSG_NOSIGNAL), 7);
        half.push_back(fd);
    }
    EXPECT_EQ(ask(by_tls()).exit, 0);
    EXPECT_EQ(ask(in_the_clear()).exit, 0);
    for (const int fd : half) close(fd);
    EXPECT_EQ(ask(by_tls()).exit, 0);
}

// A server that sends a job to another server is a client of that server. So its request is encrypted, too.
TEST_F(TlsE2eTest, AServerSendsAJobToAnotherByTls) {
    if (geteuid() != 0) GTEST_SKIP() << "servers that run as root take jobs of others";
    start({"--tls-required", "all"});
    const auto sender = [&](std::map<std::string, std::string> environment) {
        environment["PBS_CONF_FILE"] = "/nonexistent";
        Server::Options chosen;
        chosen.arguments = {"--name", "there"};
        chosen.environment = std::move(environment);
        return chosen;
    };
    ASSERT_TRUE(server->configure({"create queue work queue_type=execution, enabled=True, started=False",
                                   "set server flatuid=True, scheduling=False"}));
    const std::string to = "work@localhost:" + std::to_string(server->port());
    const std::vector<std::string> queue{
        "create queue work queue_type=execution, enabled=True, started=False",
        "set server default_queue=work, scheduling=False"};
    {
        Server there(sender({{"PBS_ENCRYPT_METHOD", "tls"}, {"PBS_TLS_CA", made.authority()}}));
        ASSERT_TRUE(there.start());
        ASSERT_TRUE(there.configure(queue));
        std::string script = "true\n";
        while (script.size() < (std::size_t{2} << 20)) script += "# " + std::string(1000, 'x') + '\n';
        const std::string id = there.submit(script);
        ASSERT_NE(id, "");
        const Output moved = there.command({"qmove", to, id});
        EXPECT_EQ(moved.exit, 0) << moved;
        EXPECT_EQ(server->job(id, "job_state"), "Q");
    }
    Server there(sender({}));
    ASSERT_TRUE(there.start());
    ASSERT_TRUE(there.configure(queue));
    const std::string id = there.submit("true\n");
    ASSERT_NE(id, "");
    EXPECT_NE(there.command({"qmove", to, id}).exit, 0);
    EXPECT_EQ(there.job(id, "job_state"), "Q");
}

TEST(TlsOptions, ThatArentKnownEndTheStart) {
    NEEDS(own_server);
    Server server({.arguments = {"--tls-required", "some"}});
    const Output refused = server.start_refused();
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err + refused.out, HasSubstr("none, remote or all expected, found \"some\""));
}

}  // namespace
}  // namespace pbs::e2e
