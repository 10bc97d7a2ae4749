#include "ifl/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "ifl/pbs_error.h"
#include "ifl/socket.h"
#include "tests/certificates.h"

namespace pbs::ifl {
namespace {

using std::chrono::system_clock;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class TlsTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!test::Certificates::can_be_made()) GTEST_SKIP() << test::Certificates::kMissing;
        made = std::make_unique<test::Certificates>();
        ASSERT_TRUE(made->make("DNS:head.example.org,DNS:head,IP:127.0.0.1"));
    }
    Result<TlsContext> server_context() const {
        return TlsContext::server(made->certificate(), made->key(), system_clock::now());
    }
    std::string refusal(system_clock::time_point now = system_clock::now()) const {
        const auto context = TlsContext::server(made->certificate(), made->key(), now);
        return context ? "" : context.error().message;
    }
    // Makes a session of a client and one of a server. The test itself carries bytes from one to the other.
    void begin(const std::string& name = "head") {
        const auto of_server = server_context();
        ASSERT_TRUE(of_server) << of_server.error().message;
        const auto of_client = TlsContext::client(made->authority());
        ASSERT_TRUE(of_client) << of_client.error().message;
        auto accepted = TlsSession::accept(*of_server);
        ASSERT_TRUE(accepted);
        server = std::move(*accepted);
        auto connected = TlsSession::connect(*of_client, name);
        ASSERT_TRUE(connected) << connected.error().message;
        client = std::move(*connected);
    }
    static void carry(TlsSession& from, TlsSession& to) { ASSERT_TRUE(to.feed(from.take_unsent())); }
    static Result<std::string> read(TlsSession& session) {
        std::string text(100000, '\0');
        std::size_t size = 0;
        for (;;) {
            const auto came = session.read(text.data() + size, text.size() - size);
            if (!came) return tl::unexpected(came.error());
            if (*came == 0) break;
            size += *came;
        }
        text.resize(size);
        return text;
    }
    // Does the handshake. Returns the client's and the server's errors; "" for a side without an error.
    std::pair<std::string, std::string> shake_hands() {
        carry(*client, *server);
        EXPECT_TRUE(read(*server));
        carry(*server, *client);
        const auto of_client = read(*client);
        carry(*client, *server);
        const auto of_server = read(*server);
        return {of_client ? "" : of_client.error().message, of_server ? "" : of_server.error().message};
    }

    std::unique_ptr<test::Certificates> made;
    std::unique_ptr<TlsSession> client;
    std::unique_ptr<TlsSession> server;
};

TEST_F(TlsTest, BothSidesReadWhatTheOtherWrote) {
    begin();
    EXPECT_TRUE(begins_tls(std::string(1, '\x16')));
    EXPECT_FALSE(server->established());
    EXPECT_FALSE(client->write("early"));
    EXPECT_EQ(shake_hands(), std::make_pair(std::string(), std::string()));
    ASSERT_TRUE(client->established());
    ASSERT_TRUE(server->established());
    const std::string question(50000, 'q');
    ASSERT_TRUE(client->write(question));
    const std::string sent = client->take_unsent();
    EXPECT_EQ(sent.find("qqqq"), std::string::npos);
    ASSERT_TRUE(server->feed(sent));
    EXPECT_EQ(read(*server).value(), question);
    ASSERT_TRUE(server->write("answer"));
    carry(*server, *client);
    EXPECT_EQ(read(*client).value(), "answer");
    EXPECT_EQ(server->unsent(), 0U);
}

TEST_F(TlsTest, BytesComeInAnyPieces) {
    begin();
    for (const char byte : client->take_unsent()) {
        ASSERT_TRUE(server->feed({&byte, 1}));
        ASSERT_TRUE(read(*server));
    }
    for (const char byte : server->take_unsent()) {
        ASSERT_TRUE(client->feed({&byte, 1}));
        ASSERT_TRUE(read(*client));
    }
    ASSERT_TRUE(client->established());
    carry(*client, *server);
    ASSERT_TRUE(read(*server));
    EXPECT_FALSE(server->in_progress());
    ASSERT_TRUE(client->write("word"));
    const std::string sent = client->take_unsent();
    for (std::size_t i = 0; i + 1 < sent.size(); ++i) {
        ASSERT_TRUE(server->feed({&sent[i], 1}));
        EXPECT_TRUE(server->in_progress());
        EXPECT_EQ(read(*server).value(), "");
        EXPECT_TRUE(server->in_progress()) << i;
    }
    ASSERT_TRUE(server->feed({&sent.back(), 1}));
    EXPECT_EQ(read(*server).value(), "word");
    EXPECT_FALSE(server->in_progress());
}

TEST_F(TlsTest, AnAddressIsANameToo) {
    begin("127.0.0.1");
    EXPECT_EQ(shake_hands().first, "");
    begin("head.example.org");
    EXPECT_EQ(shake_hands().first, "");
}

TEST_F(TlsTest, AnotherNameIsRefusedByTheClient) {
    for (const auto& [name, why] : {std::pair<std::string, std::string>{"other", "hostname mismatch"},
                                    {"example.org", "hostname mismatch"},
                                    {"127.0.0.2", "IP address mismatch"}}) {
        begin(name);
        const auto [of_client, of_server] = shake_hands();
        EXPECT_EQ(of_client, "TLS: the server's certificate isn't accepted for " + name + ": " + why);
        EXPECT_THAT(of_server, HasSubstr("alert"));
        EXPECT_FALSE(client->established());
        EXPECT_FALSE(client->write("word"));
    }
}

TEST_F(TlsTest, AnotherAuthoritysCertificateIsRefusedByTheClient) {
    const auto of_server = server_context();
    const test::Certificates others;
    const auto of_client = TlsContext::client(others.authority());
    client = std::move(*TlsSession::connect(*of_client, "head"));
    server = std::move(*TlsSession::accept(*of_server));
    EXPECT_THAT(shake_hands().first,
                HasSubstr("isn't accepted for head: unable to get local issuer certificate"));
    // this certificate isn't signed by one of the system's certificate authorities, either
    client = std::move(*TlsSession::connect(*TlsContext::client(""), "head"));
    server = std::move(*TlsSession::accept(*of_server));
    EXPECT_THAT(shake_hands().first, HasSubstr("unable to get local issuer certificate"));
}

TEST_F(TlsTest, AnExpiredCertificateIsRefusedOnBothSides) {
    ASSERT_TRUE(made->make("DNS:head", "server", "20200101000000Z", "20200201000000Z"));
    EXPECT_EQ(refusal(),
              "TLS: " + made->certificate() + ": the certificate has expired, at 2020-02-01 00:00:00 UTC");
    EXPECT_EQ(refusal(system_clock::from_time_t(1577836800 - 1)),
              "TLS: " + made->certificate() + ": the certificate is good from 2020-01-01 00:00:00 UTC on");
    const auto then =
        TlsContext::server(made->certificate(), made->key(), system_clock::from_time_t(1577836800));
    ASSERT_TRUE(then) << then.error().message;
    EXPECT_EQ(then->good_until(), system_clock::from_time_t(1580515200));
    const auto of_client = TlsContext::client(made->authority());
    client = std::move(*TlsSession::connect(*of_client, "head"));
    server = std::move(*TlsSession::accept(*then));
    EXPECT_THAT(shake_hands().first, HasSubstr("certificate has expired"));
}

TEST_F(TlsTest, FilesThatCantBeUsedAreNamed) {
    EXPECT_EQ(refusal(), "");
    chmod(made->key().c_str(), 0640);
    EXPECT_EQ(refusal(),
              "TLS: " + made->key() + ": mode 0640: a key that its owner alone may read (0600) expected");
    chmod(made->key().c_str(), 0600);
    chmod(made->certificate().c_str(), 0664);
    EXPECT_EQ(refusal(), "TLS: " + made->certificate() +
                             ": mode 0664: a certificate that its owner alone may write (0644) expected");
    chmod(made->certificate().c_str(), 0644);
    if (geteuid() == 0) {
        ASSERT_EQ(chown(made->key().c_str(), 65534, 65534), 0);
        EXPECT_EQ(refusal(), "TLS: " + made->key() + ": owned by uid 65534: root expected");
        ASSERT_EQ(chown(made->key().c_str(), 0, 0), 0);
    }
    const auto missing = TlsContext::server(made->path("none.pem"), made->key(), system_clock::now());
    EXPECT_EQ(missing.error().message, "TLS: " + made->path("none.pem") + ": No such file or directory");
    const auto folder = TlsContext::server("/etc", made->key(), system_clock::now());
    EXPECT_EQ(folder.error().message, "TLS: /etc: a regular file expected");
    ASSERT_TRUE(made->make("DNS:other", "other"));
    const auto two = TlsContext::server(made->certificate(), made->key("other"), system_clock::now());
    EXPECT_EQ(two.error().message, "TLS: " + made->key("other") + ": the key isn't that of the certificate " +
                                       made->certificate());
    // a file with a key in place of a certificate, and one without a key in place of a key
    const auto keys = TlsContext::server(made->key(), made->key(), system_clock::now());
    EXPECT_THAT(keys.error().message,
                HasSubstr(made->key() + ": a certificate in PEM expected (no start line"));
    std::ofstream(made->key()) << "nothing";
    EXPECT_THAT(refusal(), HasSubstr(made->key() + ": a private key in PEM without a passphrase expected ("));
    const auto authorities = TlsContext::client(made->key());
    EXPECT_THAT(authorities.error().message,
                HasSubstr("TLS: " + made->key() + ": certificates of authorities in PEM expected ("));
}

TEST_F(TlsTest, NobodyIsAskedForAPassphrase) {
    ASSERT_EQ(std::system(("openssl pkcs8 -topk8 -passout pass:secret -in " + made->key() + " -out " +
                           made->path("locked.key") + " 2>/dev/null")
                              .c_str()),
              0);
    chmod(made->path("locked.key").c_str(), 0600);
    const auto context =
        TlsContext::server(made->certificate(), made->path("locked.key"), system_clock::now());
    ASSERT_FALSE(context);
    EXPECT_THAT(context.error().message,
                HasSubstr("locked.key: a private key in PEM without a passphrase expected"));
}

TEST_F(TlsTest, GarbageEndsTheSession) {
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.0\r\n\r\n"),
          std::string("\x16\x03\x01\xff\xff") + std::string(70000, 'x'), std::string(3, '\0') + "xyz"}) {
        begin();
        ASSERT_TRUE(server->feed(bytes));
        const auto came = read(*server);
        ASSERT_FALSE(came);
        EXPECT_EQ(came.error().code, PBSE_PROTOCOL);
        EXPECT_THAT(came.error().message, HasSubstr("TLS: "));
        ASSERT_TRUE(server->feed("more"));
        EXPECT_FALSE(read(*server));
    }
}

// A client with a socket, and a server with the other end of it in a thread.
class TlsSocketTest : public TlsTest {
  protected:
    void SetUp() override {
        TlsTest::SetUp();
        if (IsSkipped()) return;
        int both[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
        own = Socket(both[0]);
        far = Socket(both[1]);
    }
    void TearDown() override {
        if (thread.joinable()) thread.join();
    }
    Result<void> encrypt() {
        const auto context = TlsContext::client(made->authority());
        return own.encrypt(*context, "head", std::chrono::seconds(30));
    }
    // Makes the server send all bytes back until the client closes the connection. With `late`, the server
    // reads a megabyte before it sends any.
    void echo(bool late = false) {
        thread = std::thread([this, late] {
            const auto context = server_context();
            const auto session = std::move(*TlsSession::accept(*context));
            std::string bytes(65536, '\0');
            std::string kept;
            for (;;) {
                const ssize_t size = recv(far.fd(), bytes.data(), bytes.size(), 0);
                if (size <= 0) return;
                if (!session->feed({bytes.data(), static_cast<std::size_t>(size)})) return;
                const auto text = TlsTest::read(*session);
                if (!text) return;
                kept += *text;
                // with `late`, wait for a megabyte before anything is sent back
                if (!kept.empty() && (!late || kept.size() >= kMuch)) {
                    if (!session->write(kept)) return;
                    kept.clear();
                }
                const std::string out = session->take_unsent();
                if (!out.empty() && !far.send(out)) return;
            }
        });
    }
    static constexpr std::size_t kMuch = std::size_t{1} << 20;
    Socket own;
    Socket far;
    std::thread thread;
};

TEST_F(TlsSocketTest, SendsAndReceives) {
    echo();
    const auto done = encrypt();
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_TRUE(own.send("word"));
    char bytes[100];
    const auto came = own.receive(bytes, sizeof bytes, std::chrono::seconds(30));
    ASSERT_TRUE(came) << came.error().message;
    EXPECT_EQ(std::string(bytes, *came), "word");
    own = Socket();
}

TEST_F(TlsSocketTest, SendsAsMuchAsIsTaken) {
    echo(true);
    ASSERT_TRUE(encrypt());
    std::string text(kMuch, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 % 251);
    std::string_view rest = text;
    std::string back;
    std::string bytes(65536, '\0');
    while (!rest.empty()) {
        const auto sent = own.send_some(rest);
        ASSERT_TRUE(sent) << sent.error().message;
        rest.remove_prefix(*sent);
        if (*sent != 0) continue;
        const auto came = own.receive_or_send(bytes.data(), bytes.size(), std::chrono::seconds(30));
        ASSERT_TRUE(came) << came.error().message;
        back.append(bytes, 0, *came);
    }
    // while it waits for the answer, the client also sends bytes that it has accepted and not yet sent
    while (back.size() < text.size()) {
        const auto came = own.receive(bytes.data(), bytes.size(), std::chrono::seconds(30));
        ASSERT_TRUE(came) << came.error().message;
        ASSERT_NE(*came, 0U);
        back.append(bytes, 0, *came);
    }
    EXPECT_EQ(back, text);
    EXPECT_FALSE(own.keeps_some());
    own = Socket();
}

TEST_F(TlsSocketTest, AServerWithoutTlsIsNamed) {
    ASSERT_TRUE(far.send("PKTV1"));
    const auto clear = encrypt();
    ASSERT_FALSE(clear);
    EXPECT_EQ(clear.error().message, "the server head doesn't take TLS: it answers in the clear");
    own = Socket();
    int both[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
    own = Socket(both[0]);
    far = Socket(both[1]);
    ASSERT_EQ(shutdown(far.fd(), SHUT_WR), 0);
    EXPECT_EQ(encrypt().error().message, "the server head doesn't take TLS: it closed the connection");
}

TEST_F(TlsSocketTest, AServerThatSaysNothingIsntWaitedForForEver) {
    const auto context = TlsContext::client(made->authority());
    const auto done = own.encrypt(*context, "head", std::chrono::seconds(0));
    EXPECT_THAT(done.error().message, EndsWith("it gave no answer within 0 s"));
}

}  // namespace
}  // namespace pbs::ifl
