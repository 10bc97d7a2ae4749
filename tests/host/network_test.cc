#include "server_plugin/host/net/network.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <uv.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "ifl/credential.h"
#include "ifl/munge.h"
#include "server_plugin/host/cycle/cycle.h"
#include "tests/cases.h"
#include "tests/failing_allocations.h"
#include "tests/host/network_fixture.h"
#include "tests/munged.h"

namespace pbs::host {
namespace {

// A client whose calls block, for at most a minute.
class Client {
  public:
    static Client unix_socket(const std::string& path) {
        Client client(socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        client.connected_ = connect(client.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        return client;
    }
    // Connects over TCP. With `privileged`, connects from a port below 1024.
    static Client tcp(uint16_t port, bool privileged = false) {
        Client client(socket(AF_INET, SOCK_STREAM, 0));
        sockaddr_in own{};
        own.sin_family = AF_INET;
        own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        for (uint16_t try_port = 1023; privileged && try_port > 600; --try_port) {
            own.sin_port = htons(try_port);
            if (bind(client.fd_, reinterpret_cast<sockaddr*>(&own), sizeof own) == 0) break;
        }
        sockaddr_in address = own;
        address.sin_port = htons(port);
        client.connected_ = connect(client.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        return client;
    }
    Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
    Client& operator=(Client&&) = delete;
    ~Client() {
        if (fd_ >= 0) close(fd_);
    }

    bool connected() const { return connected_; }
    uint16_t own_port() const {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size);
        return ntohs(own.sin_port);
    }
    void send_bytes(std::string_view bytes) { (void)!send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
    void send_no_more() { shutdown(fd_, SHUT_WR); }
    void send_request(ifl::RequestType type, ifl::RequestBody body, const std::string& user = "whoever") {
        send_bytes(ifl::request_packet({type, user, std::move(body), ""}));
    }
    // Returns the next reply's code; -1: the connection was closed; -2: nothing came; -3: the packet is no
    // reply. If `objects` is given, sets it to the number of objects in a status reply.
    int reply_code(size_t* objects = nullptr) {
        while (true) {
            auto next = decoder_.next();
            if (auto* reply = std::get_if<ifl::Reply>(&next)) {
                if (const auto* status = std::get_if<ifl::StatusReply>(&reply->body); status && objects)
                    *objects = status->objects.size();
                return reply->code;
            }
            if (std::holds_alternative<ifl::ReplyDecoder::Malformed>(next)) return -3;
            pollfd ready{fd_, POLLIN, 0};
            if (poll(&ready, 1, 60000) != 1) return -2;
            char bytes[16384];
            const ssize_t size = recv(fd_, bytes, sizeof bytes, 0);
            if (size <= 0) return -1;
            decoder_.feed({bytes, static_cast<size_t>(size)});
        }
    }
    // Returns the type and the data of the next packet; the data is "closed" if the connection is closed or
    // no packet comes.
    std::pair<ifl::PacketType, std::string> packet() {
        ifl::PacketReader packets(ifl::kLongestToken);
        for (;;) {
            const auto next = packets.next();
            if (next && *next) return {packets.type(), std::string(**next)};
            pollfd ready{fd_, POLLIN, 0};
            char bytes[1];  // one byte at a time, so that later packets aren't read
            if (!next || poll(&ready, 1, 60000) != 1 || recv(fd_, bytes, sizeof bytes, 0) <= 0)
                return {ifl::PacketType::dis, "closed"};
            packets.feed({bytes, sizeof bytes});
        }
    }
    int ask(ifl::RequestType type, ifl::RequestBody body, const std::string& user = "whoever") {
        send_request(type, std::move(body), user);
        return reply_code();
    }

  private:
    explicit Client(int fd) : fd_(fd) {}
    int fd_;
    bool connected_ = false;
    ifl::ReplyDecoder decoder_;
};

class NetworkTest : public NetworkFixture {
  protected:
    void SetUp() override {
        NetworkFixture::SetUp();
        signal(SIGPIPE, SIG_IGN);  // like the server
        options_.socket = folder_ + "/sock";
        options_.port = 0;
        options_.request_timeout = std::chrono::seconds(60);  // enough for any request on a busy machine
    }
    // Makes a TCP connection of another user than the test's own. Root vouches for it, over a second
    // connection.
    Client of(const std::string& user) {
        auto client = Client::tcp(network_->port());
        EXPECT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}), 0);
        auto helper = Client::tcp(network_->port(), true);
        EXPECT_EQ(helper.ask(ifl::RequestType::authenticate,
                             ifl::Authenticate{"resvport", "", client.own_port()}, user),
                  0);
        return client;
    }
    static int ask_as(Client& client, const std::string& user) {
        return client.ask(ifl::RequestType::status_server, ifl::Status{}, user);
    }
    int works() {
        return Client::unix_socket(options_.socket).ask(ifl::RequestType::status_server, ifl::Status{});
    }
};

TEST_F(NetworkTest, TheUnixSocketKnowsWhoAsks) {
    listen();
    auto client = Client::unix_socket(options_.socket);
    ASSERT_TRUE(client.connected());
    EXPECT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}, find_user(getuid())->name), 0);
}

TEST_F(NetworkTest, ATcpClientMustBeAuthenticated) {
    listen();
    auto stranger = Client::tcp(network_->port());
    EXPECT_EQ(stranger.ask(ifl::RequestType::connect, ifl::Connect{}), 0);
    EXPECT_EQ(stranger.ask(ifl::RequestType::status_server, ifl::Status{}), PBSE_BADCRED);
    EXPECT_EQ(stranger.reply_code(), -1);
}

TEST_F(NetworkTest, APrivilegedPortVouchesForAnotherConnection) {
    if (getuid() != 0) GTEST_SKIP() << "only root can use ports below 1024";
    listen();
    auto client = Client::tcp(network_->port());
    EXPECT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}), 0);
    auto helper = Client::tcp(network_->port(), true);
    EXPECT_EQ(helper.ask(ifl::RequestType::authenticate, ifl::Authenticate{"resvport", "", client.own_port()},
                         "nobody"),
              0);
    EXPECT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}, "nobody"), 0);
    EXPECT_EQ(client.ask(ifl::RequestType::manager, ifl::Manage{2, 0, "", {}}, "nobody"), PBSE_PERM);
    // A request under another name than the one that was vouched for is refused.
    EXPECT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}, "root"), PBSE_BADCRED);
}

TEST_F(NetworkTest, GarbageCostsItsConnectionOnly) {
    options_.request_timeout = std::chrono::seconds(1);
    listen();
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(200, '\0'), ifl::make_packet("+2+2+9garbage"),
          ifl::make_packet(std::string(100, '9'))}) {
        auto client = Client::unix_socket(options_.socket);
        client.send_bytes(bytes);
        EXPECT_NE(client.reply_code(), 0);
        EXPECT_EQ(client.reply_code(), -1);
        EXPECT_EQ(works(), 0);
    }
}

TEST_F(NetworkTest, AnUnknownRequestTypeIsToldSo) {
    listen();
    auto client = Client::unix_socket(options_.socket);
    // The request's header: protocol type 2, version 2, request type 4444, user "x".
    client.send_bytes(ifl::make_packet("+2+24+4444+1x"));
    EXPECT_EQ(client.reply_code(), PBSE_UNKREQ);
    EXPECT_EQ(works(), 0);
}

TEST_F(NetworkTest, AnOversizedPacketIsRefusedByItsHeader) {
    listen();
    auto client = Client::unix_socket(options_.socket);
    std::string header = ifl::make_packet("x").substr(0, ifl::kPacketHeaderSize);
    header[7] = '\x7f';
    client.send_bytes(header);
    EXPECT_NE(client.reply_code(), 0);
    EXPECT_EQ(works(), 0);
}

TEST_F(NetworkTest, ARequestThatStopsHalfwayTimesOut) {
    options_.request_timeout = std::chrono::seconds(1);
    listen();
    auto client = Client::unix_socket(options_.socket);
    const std::string whole = ifl::request_packet({ifl::RequestType::status_server, "x", ifl::Status{}, ""});
    client.send_bytes(whole.substr(0, whole.size() / 2));
    EXPECT_EQ(client.reply_code(), -1);
    EXPECT_EQ(works(), 0);
}

TEST_F(NetworkTest, RequestsInOnePieceAreAnsweredInOrder) {
    listen();
    auto client = Client::unix_socket(options_.socket);
    const std::string good = ifl::request_packet({ifl::RequestType::status_server, "x", ifl::Status{}, ""});
    const std::string bad =
        ifl::request_packet({ifl::RequestType::status_queue, "x", ifl::Status{"none", {}}, ""});
    client.send_bytes(good + bad + good);
    EXPECT_EQ(client.reply_code(), 0);
    EXPECT_EQ(client.reply_code(), PBSE_UNKQUE);
    EXPECT_EQ(client.reply_code(), 0);
}

TEST_F(NetworkTest, RepliesGoOutBeforeTheEndThatWasAskedFor) {
    listen();
    const std::string good = ifl::request_packet({ifl::RequestType::status_server, "x", ifl::Status{}, ""});
    const std::string end = ifl::request_packet({ifl::RequestType::disconnect, "x", ifl::Disconnect{}, ""});
    auto client = Client::unix_socket(options_.socket);
    client.send_bytes(good + good + end + good);
    EXPECT_EQ(client.reply_code(), 0);
    EXPECT_EQ(client.reply_code(), 0);
    EXPECT_EQ(client.reply_code(), -1);

    auto half_closed = Client::unix_socket(options_.socket);
    half_closed.send_bytes(good + good);
    half_closed.send_no_more();
    EXPECT_EQ(half_closed.reply_code(), 0);
    EXPECT_EQ(half_closed.reply_code(), 0);
    EXPECT_EQ(half_closed.reply_code(), -1);
}

// A client sends requests and doesn't read the replies. The server reads no more of its requests than it has
// room for replies. When the client has read the replies, the server goes on, and no reply is lost.
TEST_F(NetworkTest, AClientThatDoesNotReadIsNotReadFrom) {
    listen();
    auto client = Client::unix_socket(options_.socket);
    const auto kRequests = static_cast<size_t>(pbs::test::cases(100'000));
    const std::string one = ifl::request_packet({ifl::RequestType::status_server, "x", ifl::Status{}, ""});
    std::atomic<size_t> sent = 0;
    std::thread sender([&] {
        for (; sent < kRequests; ++sent) client.send_bytes(one);
    });
    size_t before = 0;
    do {
        before = sent;
        usleep(300'000);
    } while (sent != before && sent < kRequests);
    EXPECT_LT(sent, kRequests) << "nothing made the client wait";
    EXPECT_EQ(works(), 0);
    size_t answered = 0;
    while (answered < kRequests && client.reply_code() == 0) ++answered;
    sender.join();
    EXPECT_EQ(answered, kRequests);
}

TEST_F(NetworkTest, OneUserCannotTakeAllConnections) {
    if (getuid() != 0) GTEST_SKIP() << "only root can use ports below 1024";
    options_.most_per_user = 3;
    listen();
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(of("nobody"));
        EXPECT_EQ(ask_as(clients.back(), "nobody"), 0);
    }
    {
        auto fourth = of("nobody");
        EXPECT_EQ(ask_as(fourth, "nobody"), -1);
        auto other = of("daemon");
        EXPECT_EQ(ask_as(other, "daemon"), 0);
    }
    EXPECT_EQ(ask_as(clients.front(), "nobody"), 0);
    clients.clear();
    int code = -1;
    for (int i = 0; i < 100 && code != 0; ++i) {
        auto again = of("nobody");
        code = ask_as(again, "nobody");
    }
    EXPECT_EQ(code, 0);
}

TEST_F(NetworkTest, AManagerGetsInWhateverHeHasOpen) {
    if (getuid() != 0) GTEST_SKIP() << "only root is a manager of every server";
    options_.most_per_user = 3;
    listen();
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(Client::unix_socket(options_.socket));
        EXPECT_EQ(ask_as(clients.back(), "root"), 0);
    }
    EXPECT_EQ(works(), 0);
    EXPECT_EQ(ask_as(clients.at(0), "root"), -1) << "the one that was idle longest";
    EXPECT_EQ(ask_as(clients.at(1), "root"), 0);
}

TEST_F(NetworkTest, WhoHasMostConnectionsMakesRoomForOthers) {
    if (getuid() != 0) GTEST_SKIP() << "only root can use ports below 1024";
    options_.most_connections = 6;
    options_.most_per_user = 4;
    listen();
    std::vector<Client> clients;
    for (const char* user : {"nobody", "nobody", "nobody", "nobody", "daemon"}) {
        clients.push_back(of(user));
        ASSERT_EQ(ask_as(clients.back(), user), 0);
    }
    // It takes a moment until the server notices that the helpers' connections are closed.
    clients.push_back(Client::unix_socket(options_.socket));
    for (int i = 0; i < 100 && ask_as(clients.back(), "root") != 0; ++i) usleep(10000);
    auto another = Client::unix_socket(options_.socket);
    EXPECT_EQ(ask_as(another, "root"), 0);
    EXPECT_EQ(ask_as(clients.at(0), "nobody"), -1);
    EXPECT_EQ(ask_as(clients.at(4), "daemon"), 0);
    EXPECT_EQ(ask_as(clients.at(5), "root"), 0);
}

// Many connections request long replies and don't read them.
TEST_F(NetworkTest, RepliesThatNobodyReadsAreNotMade) {
    make_queue("q");
    for (int i = 0; i < 200; ++i) submit(user(), {}, "q");
    options_.most_memory = size_t{8} << 20;
    listen();
    const std::string one = ifl::request_packet({ifl::RequestType::status_job, "x", ifl::Status{}, ""});
    std::string twenty;
    for (int i = 0; i < 20; ++i) twenty += one;
    std::vector<Client> clients;
    for (int i = 0; i < 40; ++i) {
        clients.push_back(Client::unix_socket(options_.socket));
        clients.back().send_bytes(twenty);
    }
    size_t most = 0;
    for (size_t before = 1; before != memory(); usleep(200'000)) most = std::max(most, before = memory());
    // The complete replies would be some 200 MB in all.
    EXPECT_GT(most, size_t{1} << 20);
    EXPECT_LT(most, size_t{12} << 20);
    EXPECT_EQ(works(), 0);
    // A client that reads its reply later gets it complete.
    for (const size_t i : {0, 39}) {
        size_t objects = 0;
        ASSERT_EQ(clients.at(i).reply_code(&objects), 0) << i;
        EXPECT_EQ(objects, 200U);
    }
    clients.clear();
    for (int i = 0; i < 500 && memory() != 0; ++i) usleep(10000);
    EXPECT_EQ(memory(), 0U);
}

TEST_F(NetworkTest, RequestsThatAreNeverWholeHaveABoundedMemory) {
    options_.most_memory = size_t{8} << 20;
    listen();
    // The beginning of a packet: the header says 8 MB, and 3 MB of data follow.
    std::string half = ifl::make_packet(std::string(size_t{8} << 20, 'x')).substr(0, size_t{3} << 20);
    std::vector<Client> clients;
    for (int i = 0; i < 10; ++i) {
        clients.push_back(Client::unix_socket(options_.socket));
        ASSERT_EQ(ask_as(clients.back(), "x"), 0);
        clients.back().send_bytes(half);
    }
    size_t most = 0;
    for (size_t before = 1; before != memory(); usleep(200'000)) most = std::max(most, before = memory());
    EXPECT_GT(most, size_t{2} << 20) << "one may have what it needs";
    EXPECT_LT(most, size_t{14} << 20);
    EXPECT_EQ(works(), 0);
}

TEST_F(NetworkTest, StrangersOnThisHostDontTakeItsUsersConnections) {
    if (getuid() != 0) GTEST_SKIP() << "only root can use ports below 1024";
    options_.most_unknown_per_address = 3;
    options_.most_per_user = 3;
    listen();
    // Each known user can have three connections, and so can all unknown users together.
    std::vector<Client> clients;
    for (const char* user : {"nobody", "daemon"}) {
        for (int i = 0; i < 3; ++i) {
            auto client = Client::tcp(network_->port());
            ASSERT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}), 0) << user << i;
            auto helper = Client::tcp(network_->port(), true);
            ASSERT_EQ(helper.ask(ifl::RequestType::authenticate,
                                 ifl::Authenticate{"resvport", "", client.own_port()}, user),
                      0);
            ASSERT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}, user), 0) << user << i;
            clients.push_back(std::move(client));
        }
    }
    // It takes a moment until the server notices that the helpers' connections are closed.
    std::vector<Client> strangers;
    for (int i = 0; i < 100 && strangers.size() < 3; ++i) {
        auto one = Client::tcp(network_->port());
        if (one.ask(ifl::RequestType::connect, ifl::Connect{}) == 0) {
            strangers.push_back(std::move(one));
        } else {
            usleep(10000);
        }
    }
    ASSERT_EQ(strangers.size(), 3U);
    EXPECT_EQ(Client::tcp(network_->port()).ask(ifl::RequestType::connect, ifl::Connect{}), -1);
    EXPECT_EQ(works(), 0);
}

TEST_F(NetworkTest, AConnectionThatAsksForNothingIsClosed) {
    options_.idle_timeout = std::chrono::seconds(3);
    listen();
    auto client = Client::unix_socket(options_.socket);
    EXPECT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}), 0);
    EXPECT_EQ(client.reply_code(), -1);
    EXPECT_EQ(works(), 0);
}

TEST_F(NetworkTest, RefusalsAreLoggedWithWhoAndWhere) {
    if (getuid() != 0) GTEST_SKIP() << "only root can use ports below 1024";
    listen();
    auto stranger = Client::tcp(network_->port());
    EXPECT_EQ(stranger.ask(ifl::RequestType::shutdown, ifl::Shutdown{}, "root"), PBSE_BADCRED);
    auto forger = Client::tcp(network_->port());
    EXPECT_EQ(forger.ask(ifl::RequestType::authenticate,
                         ifl::Authenticate{"resvport", "", stranger.own_port()}, "root"),
              PBSE_BADCRED);
    auto client = Client::tcp(network_->port());
    EXPECT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}), 0);
    auto helper = Client::tcp(network_->port(), true);
    ASSERT_EQ(helper.ask(ifl::RequestType::authenticate, ifl::Authenticate{"resvport", "", client.own_port()},
                         "nobody"),
              0);
    EXPECT_EQ(client.ask(ifl::RequestType::manager, ifl::Manage{0, PBS_OBJ_QUEUE, "q", {}}, "nobody"),
              PBSE_PERM);
    const std::string log = log_text();
    EXPECT_THAT(log, testing::ContainsRegex(
                         ";0020;.*;Req;127.0.0.1;refused: Shutdown as root before authentication"));
    EXPECT_THAT(log,
                testing::ContainsRegex("refused: authenticate as root from the unprivileged port [0-9]+"));
    EXPECT_THAT(log, testing::ContainsRegex(";0020;.*;Req;Manager;refused: Manager create queue q by "
                                            "nobody@host.example.org from 127.0.0.1 port [0-9]+: "));
}

class MungeNetworkTest : public NetworkTest {
  protected:
    void SetUp() override {
        if (test::Munged::program().empty()) GTEST_SKIP() << test::Munged::kMissing;
        NetworkTest::SetUp();
        munged_ = std::make_unique<test::Munged>();
        ASSERT_TRUE(munged_->running());
        options_.methods = {.reserved_port = false, .munge = true};
        options_.munge_socket = munged_->socket();
        name_ = find_user(getuid())->name;
    }
    // Returns a connection on which the server waits for a credential.
    Client asked() const {
        auto client = Client::tcp(network_->port());
        EXPECT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}), 0);
        EXPECT_EQ(client.ask(ifl::RequestType::authenticate, ifl::Authenticate{"munge", "", 0}, name_), 0);
        return client;
    }
    std::string credential(const std::string& text) const {
        const auto made = ifl::Munge::load(munged_->socket())->encode(text);
        EXPECT_TRUE(made) << made.error().message;
        return made.value_or("");
    }
    static void show(Client& client, const std::string& credential) {
        client.send_bytes(ifl::make_packet(credential + std::string(1, '\0'), ifl::PacketType::auth_token));
    }
    static void expect_refusal(Client& client, const std::string& why) {
        const auto [type, text] = client.packet();
        EXPECT_EQ(type, ifl::PacketType::auth_error);
        EXPECT_THAT(text, testing::HasSubstr(why));
        EXPECT_EQ(client.reply_code(), -1);
    }

    std::unique_ptr<test::Munged> munged_;
    std::string name_;
};

TEST_F(MungeNetworkTest, ACredentialSaysWhoAsks) {
    listen();
    auto client = asked();
    show(client, credential(name_ + ":group"));
    EXPECT_EQ(client.packet().first, ifl::PacketType::auth_done);
    EXPECT_EQ(ask_as(client, name_), 0);
    EXPECT_EQ(ask_as(client, "somebody"), PBSE_BADCRED);
    EXPECT_EQ(client.reply_code(), -1);
}

// The client sends its credential and a request at once, without waiting for the answer to the first.
TEST_F(MungeNetworkTest, WhatComesBehindTheCredentialWaits) {
    listen();
    auto client = asked();
    client.send_bytes(ifl::make_packet(credential(name_ + ":group"), ifl::PacketType::auth_token) +
                      ifl::request_packet({ifl::RequestType::status_server, name_, ifl::Status{}, ""}));
    EXPECT_EQ(client.packet().first, ifl::PacketType::auth_done);
    EXPECT_EQ(client.reply_code(), 0);
}

TEST_F(MungeNetworkTest, ACredentialIsGoodOnce) {
    listen();
    const std::string shown = credential(name_ + ":group");
    auto first = asked();
    show(first, shown);
    EXPECT_EQ(first.packet().first, ifl::PacketType::auth_done);
    auto second = asked();
    show(second, shown);
    expect_refusal(second, "Replayed");
    EXPECT_EQ(ask_as(first, name_), 0);
    EXPECT_THAT(log_text(),
                testing::ContainsRegex(";0020;.*;Req;127.0.0.1;refused: authenticate by MUNGE: .*Replayed"));
}

TEST_F(MungeNetworkTest, ACredentialIsForOneConnection) {
    listen();
    auto relay = asked();
    show(relay, credential(ifl::credential_text(
                    {name_, "group", ifl::ConnectionEnds{"127.0.0.1", 1, "127.0.0.1", network_->port()}})));
    expect_refusal(relay, "the credential is for the connection from 127.0.0.1 port 1 to");
    auto client = asked();
    show(client, credential(ifl::credential_text(
                     {name_, "group",
                      ifl::ConnectionEnds{"127.0.0.1", client.own_port(), "127.0.0.1", network_->port()}})));
    EXPECT_EQ(client.packet().first, ifl::PacketType::auth_done);
}

TEST_F(MungeNetworkTest, AnotherNameThanTheNumbersIsRefused) {
    listen();
    auto client = asked();
    show(client, credential("somebody:group"));
    expect_refusal(client, "somebody on the client's");
}

TEST_F(MungeNetworkTest, NothingElseIsACredential) {
    listen();
    auto without = asked();
    EXPECT_EQ(ask_as(without, name_), -3);  // the server sends a packet with a text, not a reply
    auto garbage = asked();
    show(garbage, "MUNGE:garbage:");
    expect_refusal(garbage, "MUNGE refuses the credential");
    auto two = asked();
    show(two, credential(name_ + ":group") + std::string(1, '\0') + "x");
    expect_refusal(two, "a NUL byte");
    auto nothing = asked();
    show(nothing, "");
    expect_refusal(nothing, "MUNGE refuses the credential");
    auto long_one = asked();
    show(long_one, std::string(5000, 'x'));
    expect_refusal(long_one, "a packet of 1 to 4096 bytes expected");
    auto other_protocol = asked();
    other_protocol.send_bytes("GET / HTTP/1.0\r\n\r\n");
    expect_refusal(other_protocol, "PKTV1");
    EXPECT_EQ(works(), 0);
}

TEST_F(MungeNetworkTest, WhoIsUnknownMayNotAskWhateverHisPort) {
    listen();
    auto client = Client::tcp(network_->port(), getuid() == 0);
    EXPECT_EQ(ask_as(client, "root"), PBSE_BADCRED);
    auto helper = Client::tcp(network_->port(), getuid() == 0);
    EXPECT_EQ(helper.ask(ifl::RequestType::authenticate, ifl::Authenticate{"resvport", "", 1}, "root"),
              PBSE_NOSUP);
}

// Root of another host that has the key could make a credential of root, and an ordinary user of this machine
// could show it. So the server also checks who owns the connection.
TEST_F(MungeNetworkTest, OnThisMachineTheConnectionIsTheUsersToo) {
    if (getuid() != 0) GTEST_SKIP() << "only root can have another user's connection";
    listen();
    setfsuid(65534);
    auto client = asked();
    setfsuid(0);
    show(client, credential("root:root"));
    expect_refusal(client, "a credential of uid 0 on a connection of uid 65534");
}

TEST_F(MungeNetworkTest, AMungedThatHangsHoldsUpNobodyElse) {
    options_.check_timeout = std::chrono::seconds(1);
    listen();
    const std::string shown = credential(name_ + ":group");
    munged_->pause();
    std::vector<Client> clients;
    for (int i = 0; i < 10; ++i) {
        clients.push_back(asked());
        show(clients.back(), shown);
    }
    EXPECT_EQ(works(), 0);
    for (Client& client : clients) expect_refusal(client, "not looked at in time");
    munged_->go_on();
    auto client = asked();
    show(client, credential(name_ + ":group"));
    EXPECT_EQ(works(), 0);
}

TEST_F(MungeNetworkTest, TheEndIsntWaitedFor) {
    listen();
    const std::string shown = credential(name_ + ":group");
    munged_->pause();
    auto client = asked();
    show(client, shown);
    EXPECT_EQ(works(), 0);
    end_loop();
    EXPECT_EQ(client.packet().second, "closed");
}

TEST_F(NetworkTest, LongRepliesComeWhole) {
    make_queue("q");
    for (int i = 0; i < 1200; ++i) submit(user(), {}, "q");
    listen();
    auto client = Client::unix_socket(options_.socket);
    EXPECT_EQ(client.ask(ifl::RequestType::status_job, ifl::Status{}), 0);
}

// Each allocation in the loop's thread fails once, from the answer to a status on. A client has to get each
// answer, or to see its connection close: it would wait for ever otherwise. The creation of an fs_group,
// whose answer is held until the commit, is there if it was acknowledged, and isn't if it was refused.
TEST_F(NetworkTest, LackOfMemoryLeavesNobodyWaiting) {
    if (getuid() != 0) GTEST_SKIP() << "only root is a manager of every server";
    constexpr long kAllocations = 600;  // more than the requests make
    load_plugin();
    std::atomic<long> next = 0;
    after_request_ = [&next] {
        if (const long fails = next.exchange(0); fails != 0) allocations_left = fails;
    };
    listen();
    std::vector<int> codes;
    for (long fails = 1; fails <= kAllocations; ++fails) {
        auto client = Client::unix_socket(options_.socket);
        next = fails;
        client.send_request(ifl::RequestType::status_server, ifl::Status{});
        client.send_request(ifl::RequestType::manager,
                            ifl::Manage{PBS_CMD_CREATE, PBS_OBJ_FS_GROUP, fmt::format("g{}", fails), {}});
        int code = client.reply_code();
        if (code >= 0) code = client.reply_code();
        ASSERT_GE(code, -1) << "nothing came after the failure of allocation " << fails;
        codes.push_back(code);
        int failed = 0;  // the failure may still come
        while (works() != 0) ASSERT_LE(++failed, 1) << "after the failure of allocation " << fails;
    }
    end_loop();
    EXPECT_EQ(codes.back(), 0) << "not all allocations have failed";
    const ifl::Reply reply =
        ask(root(), ifl::RequestType::status_scheduler, ifl::Status{}, "object=fs_group");
    std::set<std::string> names;
    for (const auto& object : std::get<ifl::StatusReply>(reply.body).objects) names.insert(object.name);
    for (std::size_t i = 0; i < codes.size(); ++i)
        if (codes[i] != -1)
            EXPECT_EQ(names.contains(fmt::format("g{}", i + 1)), codes[i] == 0) << i + 1 << ": " << codes[i];
    plugin_->stop(0);
    server_->parts.plugin = nullptr;
}

// The request is AsyncRunJob, which has no reply. Here it waits for the end of a cycle.
TEST_F(NetworkTest, ARequestWithoutAReplyHasNoneEitherIfItHadToWait) {
    client::Options plugin{PBS_FIFO_PLUGIN, folder_, "svr", "", server_->now()};
    plugin.cycle_finished = [] {};
    plugin_ = *Plugin::load(plugin, *log_);
    server_->parts.plugin = plugin_.get();
    ASSERT_TRUE(server_->start_plugin());
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "operators", find_user(getuid())->name + "@*"), 0);
    make_queue("q");
    make_node("n1", "8");
    (void)submit(user(), {}, "q");
    Cycles cycles(*server_);
    cycles.run_wanted();
    ASSERT_TRUE(cycles.busy());
    const std::string first = submit(user(), {}, "q");
    const std::string second = submit(user(), {}, "q");
    after_request_ = [&] { cycles.cycle_finished(); };
    listen();
    auto waits = Client::unix_socket(options_.socket);
    waits.send_request(ifl::RequestType::async_run_job, ifl::RunJob{first, "", 0});
    waits.send_request(ifl::RequestType::status_server, ifl::Status{});
    waits.send_request(ifl::RequestType::run_job, ifl::RunJob{second, "", 0});
    auto other = Client::unix_socket(options_.socket);
    EXPECT_EQ(other.ask(ifl::RequestType::status_server, ifl::Status{}), 0);
    size_t objects = 0;
    EXPECT_EQ(waits.reply_code(&objects), 0);
    EXPECT_EQ(objects, 1U) << "the status";
    EXPECT_EQ(waits.reply_code(), 0);
    end_loop();
    for (const std::string& id : {first, second}) EXPECT_EQ(job_shows(id, "job_state"), "R");
    plugin_->stop(0);
    server_->parts.plugin = nullptr;
}

// The successor's registration comes in one piece with a change, so that the answer for which the killed
// program waited is due by then.
TEST_F(NetworkTest, AProgramThatWasKilledDoesntKeepItsSuccessorOut) {
    load_plugin();
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "managers", find_user(getuid())->name + "@*"), 0);
    const std::string changes = fmt::format("object=changes;version={};timeout=3600", plugin_->last_change());
    const auto packet = [](const std::string& extend) {
        return ifl::request_packet({ifl::RequestType::status_scheduler, "x", ifl::Status{}, extend});
    };
    listen();
    {
        auto program = Client::unix_socket(options_.socket);
        program.send_bytes(packet("object=registration"));
        EXPECT_EQ(program.reply_code(), 0);
        auto second = Client::unix_socket(options_.socket);
        second.send_bytes(packet("object=registration"));
        EXPECT_EQ(second.reply_code(), PBSE_SCHEDCONNECTED) << "the program lives";
        program.send_bytes(packet(changes));
        EXPECT_EQ(works(), 0);
    }
    auto successor = Client::unix_socket(options_.socket);
    successor.send_bytes(
        ifl::request_packet(
            {ifl::RequestType::manager, "x",
             ifl::Manage{PBS_CMD_CREATE, PBS_OBJ_NODE, "n1", {attribute("resources_available.ncpus", "4")}},
             ""}) +
        packet("object=registration"));
    EXPECT_EQ(successor.reply_code(), 0);
    EXPECT_EQ(successor.reply_code(), 0);
    end_loop();
    plugin_->stop(0);
    server_->parts.plugin = nullptr;
}

TEST_F(NetworkTest, AddressesInUseAreNamed) {
    listen();
    NetworkOptions second = options_;
    second.socket = folder_ + "/sock2";
    second.port = network_->port();
    uv_loop_t loop;
    uv_loop_init(&loop);
    const auto failed = Network::open(&loop, *server_, second, [] {});
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message, testing::HasSubstr(std::to_string(network_->port())));
    EXPECT_EQ(uv_loop_close(&loop), 0);
}

}  // namespace
}  // namespace pbs::host
