// Tests connections to a server that TLS encrypts.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <csignal>
#include <fstream>

#include "ifl/connection.h"
#include "server_plugin/host/net/certificate.h"
#include "tests/certificates.h"
#include "tests/host/network_fixture.h"

namespace pbs::host {
namespace {

using std::chrono::seconds;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A TCP client that sends exactly the bytes that the test gives it.
class Tcp {
  public:
    explicit Tcp(uint16_t port) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        EXPECT_EQ(connect(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    // Reads until the connection ends, and ignores the bytes. Returns whether it has ended: it was closed or
    // reset, or its last bytes can't be decrypted. False: it was still open after a minute without bytes.
    bool ends() {
        char bytes[4096];
        for (;;) {
            const auto size = socket.receive(bytes, sizeof bytes, seconds(60));
            if (!size) return !size.error().message.starts_with("no answer from the server");
            if (*size == 0) return true;
        }
    }
    // Returns the code and text of the next reply.
    std::pair<int, std::string> reply() {
        char bytes[16384];
        for (;;) {
            auto next = replies.next();
            if (auto* reply = std::get_if<ifl::Reply>(&next)) {
                const auto* text = std::get_if<ifl::TextReply>(&reply->body);
                return {reply->code, text != nullptr ? text->text : ""};
            }
            const auto size = socket.receive(bytes, sizeof bytes, seconds(60));
            if (!size || *size == 0) return {-1, size ? "closed" : size.error().message};
            replies.feed({bytes, *size});
        }
    }
    std::pair<int, std::string> ask(ifl::RequestType type, ifl::RequestBody body,
                                    const std::string& user = "root") {
        EXPECT_TRUE(socket.send(ifl::request_packet({type, user, std::move(body), ""})));
        return reply();
    }
    uint16_t own_port() const { return ifl::local_end(socket)->port; }

    ifl::Socket socket;
    ifl::ReplyDecoder replies;
};

class TlsNetworkTest : public NetworkFixture {
  protected:
    void SetUp() override {
        if (!test::Certificates::can_be_made()) GTEST_SKIP() << test::Certificates::kMissing;
        NetworkFixture::SetUp();
        signal(SIGPIPE, SIG_IGN);
        made_ = std::make_unique<test::Certificates>();
        ASSERT_TRUE(made_->make("DNS:head,IP:127.0.0.1"));
        options_.socket = folder_ + "/sock";
        options_.port = 0;
        options_.tls_certificate = made_->certificate();
        options_.tls_key = made_->key();
        options_.request_timeout = seconds(60);
        options_.handshake_timeout = seconds(60);
    }
    void TearDown() override {
        if (!IsSkipped()) NetworkFixture::TearDown();
    }
    std::string refused() {
        uv_loop_init(&loop_);
        auto network = Network::open(&loop_, *server_, options_, [] {});
        EXPECT_FALSE(network);
        uv_run(&loop_, UV_RUN_NOWAIT);
        EXPECT_EQ(uv_loop_close(&loop_), 0) << "a handle was left open";
        return network ? "" : network.error().message;
    }
    ifl::TlsContext trusting() const { return *ifl::TlsContext::client(made_->authority()); }
    Tcp encrypted() const {
        Tcp client(network_->port());
        const auto done = client.socket.encrypt(trusting(), "head", seconds(60));
        EXPECT_TRUE(done) << done.error().message;
        return client;
    }
    // Root vouches for the client's connection, by an unencrypted request from a port below 1024.
    void vouch(const Tcp& client, const std::string& user) const {
        if (geteuid() != 0) GTEST_SKIP() << "only root may use a port below 1024";
        Tcp asking(network_->port());
        const auto helper = ifl::connect_from_reserved_port(asking.socket);
        ASSERT_TRUE(helper);
        ASSERT_TRUE(
            helper->send(ifl::request_packet({ifl::RequestType::authenticate, user,
                                              ifl::Authenticate{"resvport", "", client.own_port()}, ""})));
        char bytes[1000];
        ifl::ReplyDecoder replies;
        const auto size = helper->receive(bytes, sizeof bytes, seconds(60));
        ASSERT_TRUE(size);
        replies.feed({bytes, *size});
        const auto next = replies.next();
        ASSERT_TRUE(std::holds_alternative<ifl::Reply>(next));
        EXPECT_EQ(std::get<ifl::Reply>(next).code, 0);
    }
    // Checks that the server answers a new connection.
    void expect_answer() {
        Tcp client = encrypted();
        EXPECT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
    }

    std::unique_ptr<test::Certificates> made_;
};

TEST_F(TlsNetworkTest, OnePortIsForBoth) {
    listen();
    Tcp client = encrypted();
    EXPECT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
    vouch(client, "alice");
    if (geteuid() == 0) {
        EXPECT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}, "alice").first, 0);
        EXPECT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}, "root").first, PBSE_BADCRED);
        EXPECT_TRUE(client.ends());
    }
    Tcp clear(network_->port());
    EXPECT_EQ(clear.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
}

TEST_F(TlsNetworkTest, WhoIsUnknownMayNotAskByTlsEither) {
    listen();
    Tcp client = encrypted();
    EXPECT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}).first, PBSE_BADCRED);
    EXPECT_TRUE(client.ends());
}

TEST_F(TlsNetworkTest, LongRepliesComeWhole) {
    listen();
    Tcp client = encrypted();
    EXPECT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
    vouch(client, "alice");
    if (geteuid() != 0) return;
    // Send many requests before reading any reply.
    std::string requests;
    constexpr int kRequests = 300;
    for (int i = 0; i < kRequests; ++i)
        requests += ifl::request_packet({ifl::RequestType::status_server, "alice", ifl::Status{}, ""});
    ASSERT_TRUE(client.socket.send(requests));
    for (int i = 0; i < kRequests; ++i) ASSERT_EQ(client.reply().first, 0) << i;
}

TEST_F(TlsNetworkTest, WhereItIsRequiredNothingIsAskedInTheClear) {
    options_.tls_required = EncryptionRequired::all;
    listen();
    Tcp clear(network_->port());
    const auto [code, text] = clear.ask(ifl::RequestType::connect, ifl::Connect{});
    EXPECT_EQ(code, PBSE_BADCRED);
    EXPECT_THAT(text, HasSubstr("this server takes requests by TLS only"));
    EXPECT_TRUE(clear.ends());
    EXPECT_THAT(log_text(), ContainsRegex(";0020;.*;Req;127.0.0.1;refused: Connect in the clear"));
    Tcp client = encrypted();
    EXPECT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
    vouch(client, "alice");
    if (geteuid() != 0) return;
    EXPECT_EQ(client.ask(ifl::RequestType::status_server, ifl::Status{}, "alice").first, 0);
    // Unencrypted requests are refused even from root on a port below 1024.
    const auto reserved = ifl::connect_from_reserved_port(clear.socket);
    Tcp other(network_->port());
    const auto as_server = ifl::connect_from_reserved_port(other.socket);
    ASSERT_TRUE(as_server);
    ASSERT_TRUE(
        as_server->send(ifl::request_packet({ifl::RequestType::status_server, "root", ifl::Status{}, ""})));
    char bytes[1000];
    ifl::ReplyDecoder replies;
    const auto size = as_server->receive(bytes, sizeof bytes, seconds(60));
    ASSERT_TRUE(size);
    replies.feed({bytes, *size});
    const auto next = replies.next();
    ASSERT_TRUE(std::holds_alternative<ifl::Reply>(next));
    EXPECT_EQ(std::get<ifl::Reply>(next).code, PBSE_BADCRED);
}

TEST_F(TlsNetworkTest, RemoteMeansOtherHosts) {
    options_.tls_required = EncryptionRequired::remote;
    listen();
    Tcp clear(network_->port());
    EXPECT_EQ(clear.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
}

TEST_F(TlsNetworkTest, WithoutACertificateThereIsNoTls) {
    options_.tls_certificate.clear();
    options_.tls_key.clear();
    listen();
    Tcp client(network_->port());
    const auto done = client.socket.encrypt(trusting(), "head", seconds(60));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "the server head doesn't take TLS: it answers in the clear");
}

TEST_F(TlsNetworkTest, WhatCantBeServedIsSaid) {
    options_.tls_key.clear();
    EXPECT_EQ(refused(), "TLS: a certificate is given, and no key");
    options_.tls_certificate.clear();
    options_.tls_required = EncryptionRequired::all;
    EXPECT_EQ(refused(), "TLS is required of clients, and the server has no certificate");
    options_.tls_certificate = "server.pem";
    options_.tls_key = made_->key();
    EXPECT_EQ(refused(), "TLS: \"server.pem\": an absolute path expected");
    options_.tls_certificate = made_->path("none.pem");
    EXPECT_EQ(refused(), "TLS: " + made_->path("none.pem") + ": No such file or directory");
    EXPECT_EQ(parse_encryption_required("some").error().message,
              "TLS required: none, remote or all expected, found \"some\"");
}

// Handshakes that stop, some within a message, don't keep the server from answering other clients.
TEST_F(TlsNetworkTest, HalfHandshakesHoldNobodyUp) {
    listen();
    auto session = std::move(*ifl::TlsSession::connect(trusting(), "head"));
    const std::string hello = session->take_unsent();
    std::vector<Tcp> half;
    for (int i = 0; i < 200; ++i) {
        half.emplace_back(network_->port());
        const std::size_t size = i % 2 == 0 ? hello.size() : hello.size() / 2;
        ASSERT_TRUE(half.back().socket.send(hello.substr(0, size)));
    }
    expect_answer();
    // These clients close their connections within the handshake.
    half.clear();
    expect_answer();
}

TEST_F(TlsNetworkTest, AHandshakeThatStallsEnds) {
    options_.handshake_timeout = seconds(1);
    listen();
    auto session = std::move(*ifl::TlsSession::connect(trusting(), "head"));
    const std::string hello = session->take_unsent();
    Tcp begun(network_->port());
    ASSERT_TRUE(begun.socket.send(hello.substr(0, 20)));
    Tcp answered(network_->port());
    ASSERT_TRUE(answered.socket.send(hello));
    EXPECT_TRUE(begun.ends());
    EXPECT_TRUE(answered.ends());
    EXPECT_THAT(log_text(), HasSubstr("connection closed: its handshake of TLS did not end in time"));
}

TEST_F(TlsNetworkTest, ARecordThatStallsEnds) {
    options_.request_timeout = seconds(1);
    listen();
    Tcp client = encrypted();
    ASSERT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
    // Send the beginning of a TLS record directly, without the TLS library.
    ASSERT_EQ(::send(client.socket.fd(), "\x17\x03\x03\x01", 4, MSG_NOSIGNAL), 4);
    EXPECT_TRUE(client.ends());
    EXPECT_THAT(log_text(), HasSubstr("its request stopped halfway"));
}

TEST_F(TlsNetworkTest, GarbageCostsItsOwnConnection) {
    listen();
    for (const std::string& bytes :
         {std::string("\x16garbage that is no handshake"), "\x16\x03\x01\x40\x01" + std::string(0x4001, 'x'),
          std::string("\x16\x03\x01\x00\x05hello", 10)}) {
        Tcp client(network_->port());
        ASSERT_TRUE(client.socket.send(bytes));
        EXPECT_TRUE(client.ends());
    }
    Tcp client = encrypted();
    ASSERT_EQ(client.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
    ASSERT_EQ(::send(client.socket.fd(), "PKTV1\0\0\0\0\0\1x", 12, MSG_NOSIGNAL), 12);
    EXPECT_TRUE(client.ends());
    expect_answer();
}

TEST_F(TlsNetworkTest, ANewCertificateIsTakenWithoutARestart) {
    listen();
    Tcp earlier = encrypted();
    ASSERT_EQ(earlier.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
    ASSERT_TRUE(made_->make("DNS:renamed"));
    const auto takes = [&](const std::string& name) {
        for (int i = 0; i < 3000; ++i) {
            Tcp client(network_->port());
            if (client.socket.encrypt(trusting(), name, seconds(60))) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return false;
    };
    EXPECT_TRUE(takes("renamed"));
    // Connections with the earlier certificate go on.
    EXPECT_EQ(earlier.ask(ifl::RequestType::connect, ifl::Connect{}).first, 0);
    // A file that isn't a certificate is reported, and the earlier certificate stays in use.
    std::ofstream(made_->certificate()) << "nothing";
    for (int i = 0; i < 3000 && log_text().find("the earlier certificate stays in use") == std::string::npos;
         ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_THAT(log_text(), HasSubstr(made_->certificate() + ": a certificate in PEM expected"));
    EXPECT_TRUE(takes("renamed"));
}

}  // namespace
}  // namespace pbs::host
