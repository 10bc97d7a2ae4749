// Checks over real connections that the server takes the user of a request from its connection, whatever user
// name the request contains.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kClosed = -1;  // the server closed the connection without a reply

// A connection to the server; ask() sends a request and returns the code of the reply.
class Connection {
  public:
    static Connection local(const std::string& path) {
        Connection made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        (void)connect(made.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
        return made;
    }
    static Connection tcp(int port) {
        Connection made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<uint16_t>(port));
        (void)connect(made.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
        return made;
    }
    Connection(Connection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Connection& operator=(Connection&&) = delete;
    ~Connection() {
        if (fd_ >= 0) close(fd_);
    }
    uint32_t port() const {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size);
        return ntohs(own.sin_port);
    }
    int ask(const std::string& user, ifl::RequestType type, ifl::RequestBody body) {
        const std::string packet = ifl::request_packet({type, user, std::move(body), ""});
        (void)!send(fd_, packet.data(), packet.size(), MSG_NOSIGNAL);
        while (true) {
            auto next = decoder_.next();
            if (auto* reply = std::get_if<ifl::Reply>(&next)) return reply->code;
            pollfd ready{fd_, POLLIN, 0};
            char bytes[4096];
            const ssize_t size = poll(&ready, 1, 10000) == 1 ? recv(fd_, bytes, sizeof bytes, 0) : 0;
            if (size <= 0) return kClosed;
            decoder_.feed({bytes, static_cast<size_t>(size)});
        }
    }

  private:
    explicit Connection(int fd) : fd_(fd) {}
    int fd_;
    ifl::ReplyDecoder decoder_;
};

ifl::Manage new_queue(const std::string& name) {
    return {MGR_CMD_CREATE, MGR_OBJ_QUEUE, name, {}};
}

// Sends a request over the Unix socket, as a process of `user`, with the user name `name` in the request.
// Returns the code of the reply.
int ask_as(const User& user, const std::string& socket, const std::string& name, const ifl::Manage& body) {
    int ends[2];
    if (pipe(ends) != 0) return -2;
    const pid_t child = fork();
    if (child == 0) {
        int code = -3;
        if (setgroups(0, nullptr) == 0 && setgid(user.gid) == 0 && setuid(user.uid) == 0)
            code = Connection::local(socket).ask(name, ifl::RequestType::manager, body);
        (void)!write(ends[1], &code, sizeof code);
        _exit(0);
    }
    close(ends[1]);
    int code = -4;
    (void)!read(ends[0], &code, sizeof code);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return code;
}

class AuthorizationTest : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        ASSERT_TRUE(server.start());
    }
    std::string socket() const { return (server.home() / "server_priv/pbs.sock").string(); }
    bool has_queue(const std::string& name) const { return server.qmgr("list queue " + name).exit == 0; }
    Server server;
};

TEST_F(AuthorizationTest, OverTheUnixSocketTheKernelNamesTheUser) {
    if (!other()) GTEST_SKIP() << "only root can become another user; this is user " << runner().name;
    ASSERT_TRUE(server.configure({"set server managers += " + runner().name + "@*"}));
    EXPECT_EQ(ask_as(*other(), socket(), "root", new_queue("forged")), PBSE_PERM);
    EXPECT_FALSE(has_queue("forged"));
    EXPECT_THAT(
        server.log(),
        ContainsRegex(";0020;[^;]*;Req;Manager;refused: Manager create queue forged by " + other()->name +
                      "@[^ ]+ from uid " + std::to_string(other()->uid) + " on the Unix socket: "));
    // A request on a manager's connection is allowed, whatever user name the request contains.
    EXPECT_EQ(ask_as(runner(), socket(), other()->name, new_queue("q1")), 0);
    EXPECT_TRUE(has_queue("q1"));
}

TEST_F(AuthorizationTest, OverTcpNobodyIsKnownFromAPortThatAnybodyMayUse) {
    auto forger = Connection::tcp(server.port());
    EXPECT_EQ(forger.ask("root", ifl::RequestType::connect, ifl::Connect{}), 0);
    auto helper = Connection::tcp(server.port());
    EXPECT_EQ(
        helper.ask("root", ifl::RequestType::authenticate, ifl::Authenticate{"resvport", "", forger.port()}),
        PBSE_BADCRED);
    EXPECT_EQ(helper.ask("root", ifl::RequestType::connect, ifl::Connect{}), kClosed);
    EXPECT_EQ(forger.ask("root", ifl::RequestType::manager, new_queue("forged")), PBSE_BADCRED);
    EXPECT_EQ(forger.ask("root", ifl::RequestType::connect, ifl::Connect{}), kClosed);
    EXPECT_FALSE(has_queue("forged"));
    const std::string log = server.log();
    EXPECT_THAT(log,
                ContainsRegex(";0020;.*refused: authenticate as root from the unprivileged port [0-9]+"));
    EXPECT_THAT(log, ContainsRegex(";0020;.*;127.0.0.1;refused: Manager as root before authentication"));
}

TEST_F(AuthorizationTest, WhoSaidNothingMayNotEvenLook) {
    for (const auto type : {ifl::RequestType::status_server, ifl::RequestType::status_job,
                            ifl::RequestType::status_scheduler}) {
        auto stranger = Connection::tcp(server.port());
        EXPECT_EQ(stranger.ask(runner().name, type, ifl::Status{}), PBSE_BADCRED);
    }
    auto stranger = Connection::tcp(server.port());
    EXPECT_EQ(stranger.ask("root", ifl::RequestType::shutdown, ifl::Shutdown{SHUT_QUICK}), PBSE_BADCRED);
    EXPECT_TRUE(server.running());
}

TEST_F(AuthorizationTest, OperatorsAndOwners) {
    if (!other()) GTEST_SKIP() << "only root can become another user; this is user " << runner().name;
    ASSERT_TRUE(server.configure({"create queue q1 queue_type=execution, enabled=True, started=False",
                                  "set server default_queue=q1"}));
    const std::string id = server.submit("true\n");
    ASSERT_NE(id, "");
    EXPECT_NE(server.command_as(*other(), {"qhold", id}).exit, 0);
    EXPECT_NE(server.command_as(*other(), {"qmgr", "-c", "set queue q1 started=False"}).exit, 0);
    ASSERT_TRUE(server.configure({"set server operators += " + other()->name + "@*"}));
    EXPECT_EQ(server.command_as(*other(), {"qhold", id}).exit, 0);
    EXPECT_EQ(server.command_as(*other(), {"qmgr", "-c", "set queue q1 started=False"}).exit, 0);
    EXPECT_NE(server.command_as(*other(), {"qmgr", "-c", "delete queue q1"}).exit, 0);
    EXPECT_NE(
        server.command_as(*other(), {"qmgr", "-c", "set server managers += " + other()->name + "@*"}).exit,
        0);
    EXPECT_EQ(server.command_as(runner(), {"qdel", id}).exit, 0);
    EXPECT_THAT(server.log(),
                HasSubstr("refused: HoldJob " + id + " (Hold_Types) by " + other()->name + "@"));
    EXPECT_THAT(server.log(), HasSubstr("refused: Manager set server (managers) by " + other()->name + "@"));
    EXPECT_THAT(server.log(), Not(HasSubstr("by " + runner().name + "@"))) << "the owner's wasn't refused";
}

}  // namespace
}  // namespace pbs::e2e
