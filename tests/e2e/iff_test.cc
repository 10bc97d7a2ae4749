// Tests pbs_iff, installed setuid root and started by ordinary users: it vouches for the connections of its
// caller, and for no others.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "ifl/pbs_error.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "tests/e2e/harness.h"
#include "text/pointers.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;

using ::testing::HasSubstr;

// A TCP socket whose descriptor is inherited by programs that the test starts.
class Tcp {
  public:
    static Tcp to(int port) {
        Tcp made;
        sockaddr_in address = loopback(port);
        EXPECT_EQ(connect(made.fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        return made;
    }
    static Tcp listener() {
        Tcp made;
        sockaddr_in address = loopback(0);
        EXPECT_EQ(bind(made.fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(listen(made.fd, 8), 0);
        return made;
    }
    Tcp accept() const {
        pollfd waiting{fd, POLLIN, 0};
        EXPECT_EQ(poll(&waiting, 1, 20000), 1);
        return Tcp(accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
    }
    Tcp(Tcp&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
    Tcp& operator=(Tcp&&) = delete;
    ~Tcp() {
        if (fd >= 0) close(fd);
    }
    uint16_t port(bool of_peer = false) const {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        (of_peer ? getpeername : getsockname)(fd, reinterpret_cast<sockaddr*>(&own), &size);
        return ntohs(own.sin_port);
    }
    void send_bytes(const std::string& bytes) const {
        (void)!send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    // Reads a packet to its end, and returns it without its header.
    std::string packet() const {
        ifl::PacketReader packets(8192);
        for (;;) {
            const auto next = packets.next();
            if (next && *next) return std::string(**next);
            pollfd waiting{fd, POLLIN, 0};
            char byte = 0;
            if (!next || poll(&waiting, 1, 20000) != 1 || recv(fd, &byte, 1, 0) != 1) return "";
            packets.feed({&byte, 1});
        }
    }
    int ask(const std::string& user, ifl::RequestType type, ifl::RequestBody body) const {
        send_bytes(ifl::request_packet({type, user, std::move(body), ""}));
        const auto reply = ifl::decode_reply(packet());
        return reply ? reply->code : -1;
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0);

  private:
    Tcp() = default;
    explicit Tcp(int accepted) : fd(accepted) {}
    static sockaddr_in loopback(int port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<uint16_t>(port));
        return address;
    }
};

// A running pbs_iff, with descriptors from which its outputs can be read.
struct Running {
    pid_t pid = -1;
    int out = -1;
    int err = -1;
};
struct Ended {
    int exit = -1;
    std::string out;
    std::string err;
    // Returns the error number that pbs_iff has written to its client.
    int code() const {
        int number = -1;
        if (out.size() >= sizeof number) std::memcpy(&number, out.data(), sizeof number);
        return number;
    }
};

std::string read_all(int fd) {
    std::string text;
    char bytes[4096];
    for (ssize_t size = 0; (size = read(fd, bytes, sizeof bytes)) > 0;)
        text.append(bytes, static_cast<size_t>(size));
    close(fd);
    return text;
}

class IffTest : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (geteuid() != 0) GTEST_SKIP() << "only root can install a setuid program";
        ASSERT_TRUE(server.start());
        helper = (server.work() / "sbin/pbs_iff").string();
        fs::create_directory(server.work() / "sbin");
        fs::copy_file(program("pbs_iff"), helper);
        ASSERT_EQ(chmod((server.work() / "sbin").c_str(), 0755), 0);
        ASSERT_EQ(chown(helper.c_str(), 0, 0), 0);
        ASSERT_EQ(chmod(helper.c_str(), 04755), 0);
        struct statvfs mounted {};
        ASSERT_EQ(statvfs(helper.c_str(), &mounted), 0);
        if ((mounted.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << server.work() << " is mounted nosuid";
        int first = 0;
        std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> first;
        if (first < 1024) GTEST_SKIP() << "anybody may use a port from " << first << " on";
    }
    Running start(const std::vector<std::string>& arguments,
                  std::vector<std::string> environment = {}) const {
        std::vector<std::string> words{helper};
        words.insert(words.end(), arguments.begin(), arguments.end());
        int out[2];
        int err[2];
        EXPECT_EQ(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
        const User& user = runner();
        const pid_t pid = fork();
        if (pid == 0) {
            dup2(out[1], 1);
            dup2(err[1], 2);
            if (setgroups(0, nullptr) == 0 && setgid(user.gid) == 0 && setuid(user.uid) == 0)
                execve(helper.c_str(), text::pointers(words).data(), text::pointers(environment).data());
            _exit(126);
        }
        close(out[1]);
        close(err[1]);
        return {pid, out[0], err[0]};
    }
    static Ended end(const Running& running) {
        Ended ended;
        ended.out = read_all(running.out);
        ended.err = read_all(running.err);
        int status = 0;
        waitpid(running.pid, &status, 0);
        ended.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return ended;
    }
    Ended run_helper(const std::vector<std::string>& arguments,
                     std::vector<std::string> environment = {}) const {
        return end(start(arguments, std::move(environment)));
    }
    // Returns the arguments with which a client starts pbs_iff for its connection.
    static std::vector<std::string> arguments_for(const Tcp& connection) {
        return {"localhost", std::to_string(connection.port(true)), std::to_string(connection.fd),
                std::to_string(htons(connection.port()))};
    }
    void expect_nothing_done(const std::vector<std::string>& arguments, const std::string& why) const {
        const Ended ended = run_helper(arguments);
        EXPECT_EQ(ended.exit, 1);
        EXPECT_EQ(ended.out, "");
        EXPECT_THAT(ended.err, HasSubstr("pbs_iff: " + why));
    }

    Server server{{.arguments = {"--name", "here"}}};
    std::string helper;
};

TEST_F(IffTest, OurClientsAreKnownByIt) {
    ASSERT_TRUE(server.configure({"create queue work queue_type=execution, enabled=True, started=False",
                                  "set server default_queue=work"}));
    RunOptions options{.input = "true\n", .folder = server.work()};
    options.uid = runner().uid;
    options.environment = {{"PBS_CONF_FILE", "/nonexistent"},
                           {"PBS_SERVER", "127.0.0.1"},
                           {"PBS_BATCH_SERVICE_PORT", std::to_string(server.port())},
                           {"PBS_EXEC", server.work().string()}};
    const Output submitted = run({"qsub", "-S", "/bin/sh"}, options);
    ASSERT_EQ(submitted.exit, 0) << submitted;
    const std::string id = submitted.out.substr(0, submitted.out.find('\n'));
    EXPECT_THAT(server.job(id, "Job_Owner"), HasSubstr(runner().name + "@"));
    // without the setuid bit, pbs_iff says that it isn't installed setuid root
    ASSERT_EQ(chmod(helper.c_str(), 0755), 0);
    const Output refused = run({"qstat", "-B"}, options);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("not installed setuid root"));
}

TEST_F(IffTest, ItTellsTheServerTheUserWhoRanIt) {
    const Tcp client = Tcp::to(server.port());
    EXPECT_EQ(client.ask("root", ifl::RequestType::connect, ifl::Connect{}), 0);
    const Ended ended = run_helper(arguments_for(client));
    EXPECT_EQ(ended.exit, 0) << ended.err;
    EXPECT_EQ(ended.out, std::string(sizeof(int), '\0'));
    EXPECT_EQ(client.ask(runner().name, ifl::RequestType::status_server, ifl::Status{}), 0);
    EXPECT_EQ(client.ask("root", ifl::RequestType::status_server, ifl::Status{}), PBSE_BADCRED);
}

TEST_F(IffTest, TheEnvironmentSaysNothing) {
    const Tcp client = Tcp::to(server.port());
    EXPECT_EQ(client.ask("root", ifl::RequestType::connect, ifl::Connect{}), 0);
    const Ended ended = run_helper(
        arguments_for(client),
        {"PBS_IFF_CLIENT_ADDR=10.9.9.9", "PBS_CONF_FILE=/nonexistent", "PBS_ENCRYPT_METHOD=gss", "USER=root",
         "LOGNAME=root", "HOSTALIASES=/etc/shadow", "LD_PRELOAD=/nonexistent.so", "LOCALDOMAIN=example.org"});
    EXPECT_EQ(ended.exit, 0) << ended.err;
    EXPECT_EQ(client.ask(runner().name, ifl::RequestType::status_server, ifl::Status{}), 0);
}

TEST_F(IffTest, OpenpbsOlderFormsAreTaken) {
    const Tcp client = Tcp::to(server.port());
    EXPECT_EQ(client.ask("root", ifl::RequestType::connect, ifl::Connect{}), 0);
    auto words = arguments_for(client);
    words.pop_back();
    EXPECT_EQ(run_helper(words).exit, 0);
    words = arguments_for(client);
    words.insert(words.begin(), {"-i", "127.0.0.1"});
    EXPECT_EQ(run_helper(words).exit, 0);
    words[1] = "10.9.9.9";
    expect_nothing_done(words, "the connection has another own address");
}

// pbs_iff vouches only for a port that is its caller's own connection. Otherwise a user could claim the
// connections of other users.
TEST_F(IffTest, ItVouchesForConnectionsOfItsCallerAlone) {
    const Tcp others = Tcp::to(server.port());
    const Tcp own = Tcp::to(server.port());
    EXPECT_EQ(others.ask("root", ifl::RequestType::connect, ifl::Connect{}), 0);
    auto words = arguments_for(own);
    words[3] = std::to_string(htons(others.port()));
    expect_nothing_done(words, "the connection has another own port");
    words = arguments_for(others);
    words[2] = "99";
    expect_nothing_done(words, "the descriptor is no TCP connection");
    EXPECT_EQ(others.ask(runner().name, ifl::RequestType::status_server, ifl::Status{}), PBSE_BADCRED);
}

TEST_F(IffTest, ItConnectsToWhereTheConnectionLeads) {
    const Tcp own = Tcp::to(server.port());
    auto words = arguments_for(own);
    words[1] = std::to_string(server.port() == 15001 ? 15002 : 15001);
    expect_nothing_done(words, "the connection leads to another port");
    words[1] = "111";
    expect_nothing_done(words, "the server's port expected, from 1024 on");
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    expect_nothing_done({"localhost", "15001", std::to_string(ends[0])},
                        "the descriptor is no TCP connection");
    close(ends[0]);
    close(ends[1]);
    const Tcp listener = Tcp::listener();
    expect_nothing_done({"localhost", std::to_string(listener.port()), std::to_string(listener.fd)},
                        "the descriptor is no TCP connection");
    expect_nothing_done({}, "pbs_iff [-i address] host port descriptor [own_port] expected");
}

// A user may make a network namespace, and use any address in it. So a connection there proves nothing.
TEST_F(IffTest, AConnectionInAnotherNetworkSaysNothing) {
    const int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespace can be made here";
    const int up = system("ip link set lo up");
    const Tcp listener = Tcp::listener();
    const Tcp connection = Tcp::to(listener.port());
    ASSERT_EQ(setns(own, CLONE_NEWNET), 0);
    close(own);
    if (up != 0) GTEST_SKIP() << "the network namespace has no loopback";
    expect_nothing_done(arguments_for(connection), "the connection is in another network namespace");
}

TEST_F(IffTest, TheServersRefusalIsToldWithItsText) {
    const Tcp listener = Tcp::listener();
    const Tcp client = Tcp::to(listener.port());
    const Tcp ours = listener.accept();
    const Running running = start(arguments_for(client));
    {
        const Tcp asked = listener.accept();
        EXPECT_LT(asked.port(true), 1024);
        EXPECT_GE(asked.port(true), 512);
        const auto request = ifl::decode_request(asked.packet());
        ASSERT_TRUE(request);
        EXPECT_EQ(request->user, runner().name);
        EXPECT_EQ(std::get<ifl::Authenticate>(request->body),
                  (ifl::Authenticate{"resvport", "", client.port()}));
        asked.send_bytes(ifl::reply_packet(ifl::Reply::error(PBSE_BADCRED, "not you")));
        EXPECT_EQ(ifl::decode_request(asked.packet())->type, ifl::RequestType::disconnect);
    }
    const Ended ended = end(running);
    EXPECT_EQ(ended.exit, 1);
    EXPECT_EQ(ended.code(), PBSE_BADCRED);
    EXPECT_THAT(ended.out, HasSubstr("not you"));
}

TEST_F(IffTest, AnythingElseIsNoAnswer) {
    for (const std::string& bytes : {std::string("HTTP/1.1 200 OK\r\n\r\n"), std::string(),
                                     std::string(9000, 'P'), ifl::make_packet("+2+2+0+0")}) {
        const Tcp listener = Tcp::listener();
        const Tcp client = Tcp::to(listener.port());
        const Tcp ours = listener.accept();
        const Running running = start(arguments_for(client));
        { listener.accept().send_bytes(bytes); }
        const Ended ended = end(running);
        EXPECT_EQ(ended.exit, 2);
        EXPECT_EQ(ended.out, "");
    }
}

// While pbs_iff waits for a server that sends nothing, it has already given up its privileges. Still, its
// user can neither inspect the process nor take over its connection to the server.
TEST_F(IffTest, ItHasGivenUpItsPrivilegeWhenItWaitsForTheServer) {
    const Tcp listener = Tcp::listener();
    const Tcp client = Tcp::to(listener.port());
    const Tcp ours = listener.accept();
    const Running running = start(arguments_for(client));
    const Tcp asked = listener.accept();
    EXPECT_NE(asked.packet(), "");
    std::stringstream status;
    status << std::ifstream("/proc/" + std::to_string(running.pid) + "/status").rdbuf();
    const std::string uid = std::to_string(runner().uid);
    EXPECT_THAT(status.str(), HasSubstr("Uid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid + "\n"));
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
        EXPECT_THAT(status.str(), HasSubstr(std::string(set) + ":\t0000000000000000\n"));
    EXPECT_THAT(status.str(), HasSubstr("NoNewPrivs:\t1\n"));
    const pid_t child = fork();
    if (child == 0) {
        const User& user = runner();
        if (setgroups(0, nullptr) != 0 || setgid(user.gid) != 0 || setuid(user.uid) != 0) _exit(2);
        const bool traced = ptrace(PTRACE_ATTACH, running.pid, nullptr, nullptr) == 0;
        const bool opened =
            open(("/proc/" + std::to_string(running.pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC) >= 0;
        const bool listed = access(("/proc/" + std::to_string(running.pid) + "/fd").c_str(), R_OK) == 0;
        _exit(traced || opened || listed ? 1 : 0);
    }
    int done = 0;
    waitpid(child, &done, 0);
    EXPECT_EQ(WEXITSTATUS(done), 0);
    kill(running.pid, SIGKILL);
    end(running);
}

}  // namespace
}  // namespace pbs::e2e
