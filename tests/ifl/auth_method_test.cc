#include "ifl/auth_method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

TEST(AuthMethods, AreNamedWithCommas) {
    const auto both = parse_auth_methods("MUNGE,resvport");
    ASSERT_TRUE(both);
    EXPECT_TRUE(both->munge);
    EXPECT_TRUE(both->reserved_port);
    const auto munge = parse_auth_methods("munge");
    ASSERT_TRUE(munge);
    EXPECT_TRUE(munge->munge);
    EXPECT_FALSE(munge->reserved_port);
    EXPECT_FALSE(parse_auth_methods("resvport")->munge);
}

TEST(AuthMethods, ThatArentKnownAreNamed) {
    for (const char* list : {"gss", "munge,gss", "", "munge,", ",munge", "munge resvport"}) {
        const auto methods = parse_auth_methods(list);
        ASSERT_FALSE(methods) << list;
        EXPECT_EQ(methods.error().code, PBSE_NOSUP);
        EXPECT_THAT(methods.error().message, ::testing::HasSubstr("resvport or munge expected"));
    }
}

}  // namespace
}  // namespace pbs::ifl
