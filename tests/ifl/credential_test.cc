#include "ifl/credential.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;

const ConnectionEnds kEnds{"10.0.0.5", 40122, "10.0.0.1", 15001};

TEST(CredentialText, IsReadAsItIsWritten) {
    for (const CredentialText& text :
         {CredentialText{"alice", "users", kEnds}, CredentialText{"alice", "users", std::nullopt},
          CredentialText{"alice", "", std::nullopt},
          CredentialText{"a,b", "c,d", ConnectionEnds{"fd00::5", 1, "::1", 65535}}}) {
        const auto read = parse_credential_text(credential_text(text));
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(*read, text);
    }
    EXPECT_EQ(credential_text({"alice", "users", kEnds}), "alice:users:10.0.0.5,40122,10.0.0.1,15001");
}

TEST(CredentialText, ACredentialOfOpenpbsNamesNoConnection) {
    const auto read = parse_credential_text("alice:users");
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, (CredentialText{"alice", "users", std::nullopt}));
    EXPECT_EQ(parse_credential_text("alice")->user, "alice");
}

TEST(CredentialText, OfOtherProgramsIsRefused) {
    using namespace std::string_view_literals;
    for (const std::string_view text :
         {""sv, ":users"sv, "ali\0ce:users"sv, "alice:users:"sv, "alice:users:10.0.0.5"sv,
          "alice:users:10.0.0.5,40122,10.0.0.1"sv, "alice:users:10.0.0.5,40122,10.0.0.1,15001,1"sv,
          "alice:users:10.0.0.5,70000,10.0.0.1,15001"sv, "alice:users:10.0.0.5,-1,10.0.0.1,15001"sv,
          "alice:users:10.0.0.5,,10.0.0.1,15001"sv, "alice:users:10.0.0.5,1x,10.0.0.1,15001"sv}) {
        const auto read = parse_credential_text(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().code, PBSE_BADCRED);
        EXPECT_THAT(read.error().message, HasSubstr("expected"));
    }
}

TEST(NumericAddress, IsOneTextForAnAddress) {
    sockaddr_storage address{};
    std::uint16_t port = 0;
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(15001);
    inet_pton(AF_INET, "10.0.0.1", &v4.sin_addr);
    EXPECT_EQ(numeric_address(address, port), "10.0.0.1");
    EXPECT_EQ(port, 15001);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
    v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(4);
    v6.sin6_scope_id = 7;
    inet_pton(AF_INET6, "fe80:0::1", &v6.sin6_addr);
    EXPECT_EQ(numeric_address(address, port), "fe80::1");
    EXPECT_EQ(port, 4);
    inet_pton(AF_INET6, "::ffff:10.0.0.1", &v6.sin6_addr);
    EXPECT_EQ(numeric_address(address, port), "10.0.0.1");
}

}  // namespace
}  // namespace pbs::ifl
