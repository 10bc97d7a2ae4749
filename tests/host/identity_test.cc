#include "server_plugin/host/identity.h"

#include <gtest/gtest.h>

namespace pbs::host {
namespace {

TEST(Acl, TheFirstEntryThatFitsDecides) {
    EXPECT_TRUE(acl_allows({"a@h"}, "a@h", AclKind::user));
    EXPECT_FALSE(acl_allows({"a@h"}, "a@other", AclKind::user));
    EXPECT_TRUE(acl_allows({"a"}, "a@anywhere", AclKind::user));
    EXPECT_FALSE(acl_allows({"-a@h", "a@*"}, "a@h", AclKind::user));
    EXPECT_TRUE(acl_allows({"-a@h", "+a@*"}, "a@k", AclKind::user));
    EXPECT_TRUE(acl_allows({"@*.example.org"}, "b@x.example.org", AclKind::user));
    EXPECT_FALSE(acl_allows({"@*.example.org"}, "b@example.org.evil.net", AclKind::user));
    EXPECT_FALSE(acl_allows({"@*.example.org"}, "b@badexample.org", AclKind::user));
    EXPECT_FALSE(acl_allows({}, "a@h", AclKind::user));
    EXPECT_TRUE(acl_allows({".example.org"}, "x.example.org", AclKind::host));
    EXPECT_TRUE(acl_allows({"staff"}, "staff", AclKind::group));
}

TEST(Privilege, RootAndTheStarterAreManagersOnTheServersHostOnly) {
    State state;
    state.host_name = "here";
    EXPECT_EQ(privilege_of(state, "me", "root", "here"),
              privilege_root | privilege_manager | privilege_operator);
    EXPECT_EQ(privilege_of(state, "me", "root", "elsewhere"), 0U);
    EXPECT_EQ(privilege_of(state, "me", "me", "here"), privilege_manager | privilege_operator);
    EXPECT_EQ(privilege_of(state, "me", "me", "elsewhere"), 0U);
    EXPECT_EQ(privilege_of(state, "me", "you", "here"), 0U);
}

TEST(Privilege, ListsMakeManagersAndOperators) {
    State state;
    state.host_name = "here";
    state.server.set(*server_table().find("managers"), {}, "boss@*");
    state.server.set(*server_table().find("operators"), {}, "op@here");
    EXPECT_EQ(privilege_of(state, "", "boss", "anywhere"), privilege_manager | privilege_operator);
    EXPECT_EQ(privilege_of(state, "", "op", "here"), uint32_t{privilege_operator});
    EXPECT_EQ(privilege_of(state, "", "op", "there"), 0U);
}

TEST(ManagerEntries, NeedAUserAndAHost) {
    EXPECT_TRUE(legal_manager_entry("a@h"));
    EXPECT_TRUE(legal_manager_entry("a@*"));
    EXPECT_TRUE(legal_manager_entry("a@*.example.org"));
    EXPECT_FALSE(legal_manager_entry("a"));
    EXPECT_FALSE(legal_manager_entry("@h"));
    EXPECT_FALSE(legal_manager_entry("a@"));
    EXPECT_FALSE(legal_manager_entry("a@h*"));
}

}  // namespace
}  // namespace pbs::host
