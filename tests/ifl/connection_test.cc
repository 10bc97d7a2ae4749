#include "ifl/connection.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "ifl/munge.h"
#include "ifl/pbs_error.h"
#include "tests/munged.h"

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;

// A client, and a server in a thread. The test chooses the server's answer to the client's credential.
class HandshakeTest : public ::testing::Test {
  protected:
    void SetUp() override {
        listener = Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        ASSERT_EQ(bind(listener.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(listen(listener.fd(), 1), 0);
        ASSERT_EQ(getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
        port = ntohs(address.sin_port);
        settings.auth_method = "munge";
    }
    void TearDown() override { end(); }
    void end() {
        if (thread.joinable()) thread.join();
    }
    // Starts the server. It answers the requests Connect and Authenticate, and then the credential.
    void answer(const Reply& to_authenticate, const std::string& to_credential) {
        thread = std::thread([this, to_authenticate, to_credential] {
            const Socket client(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
            (void)next_packet(client);
            (void)client.send(reply_packet(Reply::ok()));
            authenticate = next_packet(client);
            (void)client.send(reply_packet(to_authenticate));
            if (to_authenticate.code != 0) return;
            credential = next_packet(client);
            (void)client.send(to_credential);
        });
    }
    static std::string next_packet(const Socket& client) {
        PacketReader packets(100000);
        std::string bytes(10000, '\0');
        for (;;) {
            const auto packet = packets.next();
            if (!packet) return "";
            if (*packet) return std::string(**packet);
            const auto size = client.receive(bytes.data(), bytes.size(), std::chrono::seconds(60));
            if (!size || *size == 0) return "";
            packets.feed(bytes.substr(0, *size));
        }
    }
    Result<std::shared_ptr<Connection>> open() {
        return Connection::open({"", "127.0.0.1", port}, settings, "");
    }

    Socket listener;
    std::uint16_t port = 0;
    Settings settings;
    std::string authenticate;
    std::string credential;
    std::thread thread;
};

class MungeHandshake : public HandshakeTest {
  protected:
    void SetUp() override {
        if (test::Munged::program().empty()) GTEST_SKIP() << test::Munged::kMissing;
        HandshakeTest::SetUp();
        munged = std::make_unique<test::Munged>();
        ASSERT_TRUE(munged->running());
        settings.munge_socket = munged->socket();
    }
    std::unique_ptr<test::Munged> munged;
};

TEST_F(MungeHandshake, ShowsACredentialForThisConnectionOnly) {
    answer(Reply::ok(), make_packet(std::string(1, '\0'), PacketType::auth_done));
    const auto connection = open();
    ASSERT_TRUE(connection) << connection.error().message;
    end();
    const auto asked = decode_request(authenticate);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->user, current_user());
    EXPECT_EQ(std::get<Authenticate>(asked->body), (Authenticate{"munge", "", 0}));
    ASSERT_FALSE(credential.empty());
    EXPECT_EQ(credential.back(), '\0');
    const auto decoded = Munge::load(munged->socket())->decode(credential.substr(0, credential.size() - 1));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->uid, geteuid());
    const auto text = parse_credential_text(decoded->text);
    ASSERT_TRUE(text);
    EXPECT_EQ(text->user, current_user());
    EXPECT_FALSE(text->group.empty());
    ASSERT_TRUE(text->ends);
    const auto local = local_end(Socket(dup((*connection)->fd())));
    EXPECT_EQ(*text->ends, (ConnectionEnds{"127.0.0.1", local->port, "127.0.0.1", port}));
}

TEST_F(MungeHandshake, TellsWhatTheServerSays) {
    answer(Reply::ok(), make_packet("Replayed", PacketType::auth_error));
    const auto connection = open();
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, PBSE_BADCRED);
    EXPECT_THAT(connection.error().message, HasSubstr("the server refused the authentication: Replayed"));
}

TEST_F(MungeHandshake, TakesNothingElseForAnAnswer) {
    const std::string done = make_packet(std::string(1, '\0'), PacketType::auth_done);
    for (const std::string& bytes :
         {make_packet("x", PacketType::auth_token), make_packet("x"), done + done,
          std::string("HTTP/1.1 400"), make_packet(std::string(5000, 'x'), PacketType::auth_done),
          std::string(), done.substr(0, 5)}) {
        answer(Reply::ok(), bytes);
        const auto connection = open();
        end();
        ASSERT_FALSE(connection) << bytes;
        EXPECT_EQ(connection.error().code, PBSE_PROTOCOL) << connection.error().message;
    }
}

// The client makes no credential for a server that refuses the authentication method.
TEST_F(MungeHandshake, MakesNoCredentialForAServerThatTakesNone) {
    answer(Reply::error(PBSE_NOSUP), "");
    const auto connection = open();
    ASSERT_FALSE(connection);
    end();
    EXPECT_EQ(connection.error().code, PBSE_NOSUP);
    EXPECT_THAT(connection.error().message, HasSubstr("the server refused authentication by MUNGE"));
    EXPECT_EQ(credential, "");
}

TEST_F(MungeHandshake, WithoutADaemonIsNoAuthentication) {
    munged->stop();
    answer(Reply::ok(), "");
    const auto connection = open();
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, PBSE_BADCRED);
    EXPECT_THAT(connection.error().message, HasSubstr("MUNGE makes no credential: "));
}

TEST_F(HandshakeTest, AMethodThatIsntThereIsNamedBeforeAnythingIsSent) {
    settings.auth_method = "gss";
    auto connection = open();
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, PBSE_NOSUP);
    EXPECT_EQ(connection.error().message, "PBS_AUTH_METHOD: resvport or munge expected, found \"gss\"");
    settings.auth_method = "resvport";
    settings.encrypt_method = "gss";
    connection = open();
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, PBSE_NOSUP);
    EXPECT_EQ(connection.error().message, "PBS_ENCRYPT_METHOD: tls expected, found \"gss\"");
}

}  // namespace
}  // namespace pbs::ifl
