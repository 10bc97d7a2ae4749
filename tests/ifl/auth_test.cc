#include "ifl/auth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

using Action = AuthDecision::Action;
using ::testing::HasSubstr;

constexpr AuthTable::Id kClient = 1;
constexpr AuthTable::Id kHelper = 2;
constexpr AuthTable::Id kLocal = 3;

Request request(RequestType type, RequestBody body, std::string user = "alice") {
    return {type, std::move(user), std::move(body), ""};
}

Request connect_request() {
    return request(RequestType::connect, Connect{});
}
Request status_request(std::string user = "alice") {
    return request(RequestType::status_server, Status{}, std::move(user));
}
Request authenticate_request(std::uint32_t port, std::string user = "alice", std::string method = "resvport",
                             std::string encrypt = "") {
    return request(RequestType::authenticate, Authenticate{std::move(method), std::move(encrypt), port},
                   std::move(user));
}

class AuthTest : public ::testing::Test {
  protected:
    AuthTest() {
        table.add_tcp(kClient, "10.0.0.1", 40000);
        table.add_tcp(kHelper, "10.0.0.1", 1023);
        table.add_local(kLocal, "bob");
    }

    void expect_refusal(const AuthDecision& decision, int code, const char* reason) {
        EXPECT_EQ(decision.action, Action::reply_and_close);
        EXPECT_EQ(decision.reply.code, code);
        EXPECT_THAT(decision.reason, HasSubstr(reason));
        EXPECT_FALSE(table.known(kClient));
    }

    AuthTable table;
};

TEST_F(AuthTest, APortThatAnybodyMayBindVouchesForNobody) {
    table.add_tcp(kHelper, "10.0.0.1", 700, 600);
    expect_refusal(table.judge(kHelper, authenticate_request(40000)), PBSE_BADCRED, "unprivileged port 700");
    table.add_tcp(kHelper, "10.0.0.1", 599, 600);
    EXPECT_EQ(table.judge(kHelper, authenticate_request(40000)).action, Action::reply);
}

// A port below 1024 of a service proves nothing. For example, an FTP server connects from port 20, and sends
// what a user wants.
TEST_F(AuthTest, APortOfAServiceVouchesForNobody) {
    for (const std::uint16_t port : {20, 511}) {
        table.add_tcp(kHelper, "10.0.0.1", port);
        expect_refusal(table.judge(kHelper, authenticate_request(40000)), PBSE_BADCRED, "unprivileged port");
        EXPECT_EQ(table.judge(kHelper, status_request("root")).reply.code, PBSE_BADCRED);
    }
    table.add_tcp(kHelper, "10.0.0.1", 512);
    EXPECT_EQ(table.judge(kHelper, authenticate_request(40000)).action, Action::reply);
}

TEST_F(AuthTest, AServerIsRootOnItsOwnConnection) {
    EXPECT_TRUE(table.from_reserved_port(kHelper));
    EXPECT_FALSE(table.from_reserved_port(kClient));
    EXPECT_EQ(table.judge(kHelper, status_request("root")).action, Action::handle);
    EXPECT_EQ(table.user(kHelper), "root");
    EXPECT_EQ(table.judge(kHelper, status_request("alice")).reply.code, PBSE_BADCRED);
}

TEST_F(AuthTest, NobodyElseIsByASayingSo) {
    expect_refusal(table.judge(kClient, status_request("root")), PBSE_BADCRED, "before authentication");
    EXPECT_EQ(table.judge(kHelper, status_request("alice")).reply.code, PBSE_BADCRED);
    table.add_tcp(kHelper, "10.0.0.1", 700, 512);
    EXPECT_FALSE(table.from_reserved_port(kHelper));
    EXPECT_EQ(table.judge(kHelper, status_request("root")).reply.code, PBSE_BADCRED);
    EXPECT_FALSE(table.from_reserved_port(kLocal));
}

TEST_F(AuthTest, AClientBecomesKnownThroughItsHelper) {
    EXPECT_EQ(table.judge(kClient, connect_request()).action, Action::reply);
    EXPECT_FALSE(table.known(kClient));

    const AuthDecision helped = table.judge(kHelper, authenticate_request(40000));
    EXPECT_EQ(helped.action, Action::reply);
    EXPECT_EQ(helped.reply, Reply::ok());
    EXPECT_EQ(table.user(kClient), "alice");
    EXPECT_FALSE(table.known(kHelper)) << "the helper vouches for another, not for itself";

    EXPECT_EQ(table.judge(kClient, status_request()).action, Action::handle);
    EXPECT_EQ(table.judge(kClient, request(RequestType::disconnect, Disconnect{})).action, Action::close);
}

TEST_F(AuthTest, AnUnknownPeerMayOnlyConnect) {
    expect_refusal(table.judge(kClient, status_request()), PBSE_BADCRED,
                   "StatusServer as alice before authentication");
    expect_refusal(table.judge(kHelper, status_request()), PBSE_BADCRED, "before authentication");
    EXPECT_EQ(table.judge(kClient, request(RequestType::disconnect, Disconnect{})).action, Action::close);
}

TEST_F(AuthTest, AnotherNameOnAKnownConnectionIsRefused) {
    table.judge(kHelper, authenticate_request(40000));
    const AuthDecision decision = table.judge(kClient, status_request("root"));
    EXPECT_EQ(decision.action, Action::reply_and_close);
    EXPECT_EQ(decision.reply.code, PBSE_BADCRED);
    EXPECT_THAT(decision.reason, HasSubstr("StatusServer as root on a connection of alice"));
}

TEST_F(AuthTest, OnlyAPrivilegedPortVouches) {
    constexpr AuthTable::Id kOther = 4;
    for (const std::uint16_t port : {1024, 40001, 0}) {
        table.add_tcp(kOther, "10.0.0.1", port);
        expect_refusal(table.judge(kOther, authenticate_request(40000)), PBSE_BADCRED, "unprivileged port");
    }
    expect_refusal(table.judge(kClient, authenticate_request(40000)), PBSE_BADCRED,
                   "unprivileged port 40000");
}

TEST_F(AuthTest, AHostVouchesOnlyForItsOwnConnections) {
    constexpr AuthTable::Id kOther = 4;
    table.add_tcp(kOther, "10.0.0.2", 1023);
    expect_refusal(table.judge(kOther, authenticate_request(40000)), PBSE_BADCRED,
                   "port 40000 of 10.0.0.2, which has no connection");
}

TEST_F(AuthTest, AConnectionThatIsNotThereCannotBecomeKnown) {
    expect_refusal(table.judge(kHelper, authenticate_request(40001)), PBSE_BADCRED, "no connection");
    // 105536 is 40000 + 65536. If the port were cut to 16 bits, it would be 40000, that of the connection
    // kClient.
    expect_refusal(table.judge(kHelper, authenticate_request(105536)), PBSE_BADCRED, "no connection");
    table.remove(kClient);
    expect_refusal(table.judge(kHelper, authenticate_request(40000)), PBSE_BADCRED, "no connection");
}

TEST_F(AuthTest, OtherMethodsAndEncryptionAreNotSupported) {
    expect_refusal(table.judge(kHelper, authenticate_request(40000, "alice", "munge")), PBSE_NOSUP,
                   "method \"munge\" isn't supported");
    expect_refusal(table.judge(kHelper, authenticate_request(40000, "alice", "resvport", "tls")), PBSE_NOSUP,
                   "encryption method \"tls\" isn't supported");
    expect_refusal(table.judge(kHelper, authenticate_request(40000, "")), PBSE_BADCRED, "without a user");
}

class MungeAuthTest : public AuthTest {
  protected:
    MungeAuthTest() {
        table = AuthTable({.reserved_port = true, .munge = true});
        table.add_tcp(kClient, "10.0.0.1", 40000);
        table.add_tcp(kHelper, "10.0.0.1", 1023);
        table.add_local(kLocal, "bob");
    }
    AuthDecision ask() { return table.judge(kClient, authenticate_request(0, "alice", "munge")); }
};

TEST_F(MungeAuthTest, ACredentialIsDueBehindTheRequest) {
    EXPECT_FALSE(table.token_due(kClient));
    const AuthDecision decision = ask();
    EXPECT_EQ(decision.action, Action::reply);
    EXPECT_EQ(decision.reply, Reply::ok());
    EXPECT_TRUE(table.token_due(kClient));
    EXPECT_FALSE(table.known(kClient));
    table.take_token(kClient);
    EXPECT_FALSE(table.token_due(kClient));
    EXPECT_FALSE(table.known(kClient));
    table.identify(kClient, "alice");
    EXPECT_EQ(table.user(kClient), "alice");
    EXPECT_EQ(table.judge(kClient, status_request()).action, Action::handle);
    EXPECT_EQ(table.judge(kClient, status_request("root")).reply.code, PBSE_BADCRED);
}

TEST_F(MungeAuthTest, NobodyIsKnownBeforeHisCredentialIs) {
    table.identify(kClient, "root");
    EXPECT_FALSE(table.known(kClient));
    ask();
    table.identify(kClient, "root");
    EXPECT_FALSE(table.known(kClient));
    expect_refusal(table.judge(kClient, status_request()), PBSE_BADCRED, "before a credential");
    table.take_token(kClient);
    expect_refusal(table.judge(kClient, status_request()), PBSE_BADCRED, "before a credential");
    expect_refusal(ask(), PBSE_BADCRED, "before a credential");
    table.remove(kClient);
    table.identify(kClient, "root");
    EXPECT_FALSE(table.known(kClient));
}

TEST_F(MungeAuthTest, AHelperVouchesForNobodyWhoIsToShowACredential) {
    ask();
    expect_refusal(table.judge(kHelper, authenticate_request(40000)), PBSE_BADCRED, "to show a credential");
    table.take_token(kClient);
    expect_refusal(table.judge(kHelper, authenticate_request(40000)), PBSE_BADCRED, "to show a credential");
}

TEST_F(MungeAuthTest, WhoIsKnownShowsNone) {
    table.judge(kHelper, authenticate_request(40000));
    EXPECT_EQ(ask().reply.code, PBSE_BADCRED);
    EXPECT_FALSE(table.token_due(kClient));
    EXPECT_EQ(table.user(kClient), "alice");
    EXPECT_EQ(table.judge(kLocal, authenticate_request(0, "bob", "munge")).reply.code, PBSE_BADCRED);
    EXPECT_FALSE(table.token_due(kLocal));
}

TEST_F(MungeAuthTest, EncryptionIsNotSupported) {
    expect_refusal(table.judge(kClient, authenticate_request(0, "alice", "munge", "munge")), PBSE_NOSUP,
                   "encryption method \"munge\"");
    EXPECT_FALSE(table.token_due(kClient));
}

TEST_F(AuthTest, WhereAPortSaysNothingNobodyIsRootByIt) {
    table = AuthTable({.reserved_port = false, .munge = true});
    table.add_tcp(kClient, "10.0.0.1", 40000);
    table.add_tcp(kHelper, "10.0.0.1", 1023);
    expect_refusal(table.judge(kHelper, authenticate_request(40000)), PBSE_NOSUP, "\"resvport\"");
    EXPECT_FALSE(table.from_reserved_port(kHelper));
    EXPECT_EQ(table.judge(kHelper, status_request("root")).reply.code, PBSE_BADCRED);
}

TEST_F(AuthTest, AKnownConnectionKeepsItsUser) {
    table.judge(kHelper, authenticate_request(40000));
    EXPECT_EQ(table.judge(kHelper, authenticate_request(40000)).action, Action::reply);
    const AuthDecision decision = table.judge(kHelper, authenticate_request(40000, "root"));
    EXPECT_EQ(decision.action, Action::reply_and_close);
    EXPECT_EQ(decision.reply.code, PBSE_BADCRED);
    EXPECT_EQ(table.user(kClient), "alice");
}

TEST_F(AuthTest, APortThatIsUsedAgainIsUnknownAgain) {
    table.judge(kHelper, authenticate_request(40000));
    constexpr AuthTable::Id kNext = 5;
    table.add_tcp(kNext, "10.0.0.1", 40000);  // the port's former connection, kClient, is still listed
    EXPECT_FALSE(table.known(kNext));
    table.remove(kClient);
    EXPECT_EQ(table.judge(kHelper, authenticate_request(40000, "carol")).action, Action::reply);
    EXPECT_EQ(table.user(kNext), "carol");
}

TEST_F(AuthTest, AUnixSocketsUserIsTheKernelsWhateverTheHeaderSays) {
    EXPECT_EQ(table.judge(kLocal, status_request("root")).action, Action::handle);
    EXPECT_EQ(table.user(kLocal), "bob");
    EXPECT_EQ(table.judge(kLocal, connect_request()).action, Action::reply);
    EXPECT_EQ(table.judge(kLocal, authenticate_request(40000)).reply.code, PBSE_BADCRED);
    EXPECT_FALSE(table.known(kClient));
}

TEST_F(AuthTest, AConnectionThatWasNotAddedIsRefused) {
    const AuthDecision decision = table.judge(99, status_request());
    EXPECT_EQ(decision.action, Action::reply_and_close);
    EXPECT_EQ(decision.reply.code, PBSE_INTERNAL);
}

}  // namespace
}  // namespace pbs::ifl
