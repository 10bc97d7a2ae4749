#include "server_plugin/host/state/identity.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pbs::host {
namespace {

TEST(OtherHosts, DoNotGetTheNameOfThisOne) {
    State state;
    state.host_name = "host.example.org";
    for (const char* own : {"host.example.org", "HOST.Example.ORG", "host", "Host"}) {
        const std::string name = name_of_other_host(state, own, "10.0.0.1");
        EXPECT_EQ(name, "10.0.0.1") << own;
        EXPECT_EQ(privilege_of(state, "starter", "root", name), privilege_none) << own;
        EXPECT_EQ(privilege_of(state, "starter", "starter", name), privilege_none) << own;
    }
    for (const char* other : {"desk.example.org", "host.example.net", "hos", "10.0.0.1"})
        EXPECT_EQ(name_of_other_host(state, other, "10.0.0.1"), other);
    state.host_name = "host";
    EXPECT_EQ(name_of_other_host(state, "host", "10.0.0.1"), "10.0.0.1");
}

TEST(Acl, EntriesNameUsersAndHosts) {
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

TEST(Acl, TheClosestEntryDecidesWhateverTheOrder) {
    const std::vector<std::string> entries = {"@*", "-@*.evil.example.org", "+good@*.evil.example.org",
                                              "-bad@*", "+bad@home.example.org"};
    const auto allowed = [](std::vector<std::string> list, std::string_view who) {
        const bool forward = acl_allows(list, who, AclKind::user);
        std::reverse(list.begin(), list.end());
        EXPECT_EQ(acl_allows(list, who, AclKind::user), forward) << who;
        return forward;
    };
    EXPECT_TRUE(allowed(entries, "a@h.example.org"));
    EXPECT_FALSE(allowed(entries, "a@h.evil.example.org"));
    EXPECT_TRUE(allowed(entries, "good@h.evil.example.org"));
    EXPECT_FALSE(allowed(entries, "bad@h.example.org"));
    EXPECT_TRUE(allowed(entries, "bad@home.example.org"));
    EXPECT_FALSE(allowed({"@*.example.org", "-@*.b.example.org"}, "a@x.b.example.org"));
}

TEST(Acl, ASignAloneIsForThoseWhomNoEntryFits) {
    EXPECT_TRUE(acl_allows({"-bad@*", "+"}, "a@h", AclKind::user));
    EXPECT_FALSE(acl_allows({"-bad@*", "+"}, "bad@h", AclKind::user));
    EXPECT_FALSE(acl_allows({"-"}, "a@h", AclKind::user));
    EXPECT_TRUE(acl_allows({"-evil", "+"}, "h", AclKind::host));
}

TEST(Acl, AShortNameIsNotThatOfAHostWithADomain) {
    EXPECT_FALSE(acl_allows({"node1"}, "node1.example.org", AclKind::host));
    EXPECT_FALSE(acl_allows({"node1"}, "node1.evil.net", AclKind::host));
    EXPECT_FALSE(acl_allows({"a@node1"}, "a@node1.evil.net", AclKind::user));
    EXPECT_FALSE(acl_allows({"node1.example.org"}, "node1", AclKind::host));
    EXPECT_TRUE(acl_allows({"Node1.Example.org"}, "node1.example.ORG", AclKind::host));
    EXPECT_TRUE(acl_allows({"node1"}, "node1", AclKind::host));
}

TEST(Acl, EveryUserOfAHost) {
    EXPECT_TRUE(acl_allows({"@h"}, "a@h", AclKind::user));
    EXPECT_TRUE(acl_allows({"*@h"}, "a@h", AclKind::user));
    EXPECT_FALSE(acl_allows({"@h"}, "a@k", AclKind::user));
    EXPECT_FALSE(acl_allows({"ab@h"}, "a@h", AclKind::user));
    EXPECT_FALSE(acl_allows({"a@h"}, "ab@h", AclKind::user));
    EXPECT_FALSE(acl_allows({"A@h"}, "a@h", AclKind::user)) << "users' names have case";
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

TEST(Privilege, ADenialInTheListIsOne) {
    State state;
    state.host_name = "here";
    state.server.set(*server_table().find("managers"), {}, "boss@*,-boss@lab.example.org,@desk.example.org");
    EXPECT_EQ(privilege_of(state, "", "boss", "office"), privilege_manager | privilege_operator);
    EXPECT_EQ(privilege_of(state, "", "boss", "lab.example.org"), 0U);
    EXPECT_EQ(privilege_of(state, "", "anybody", "desk.example.org"), privilege_manager | privilege_operator);
    EXPECT_EQ(privilege_of(state, "", "anybody", "office"), 0U);
}

TEST(ManagerEntries, NeedAKnownForm) {
    for (const char* good : {"a@h", "a@*", "a@*.example.org", "@h", "+a@h", "-a@*", "a.b-c_d@h-1.example.org",
                             "a@10.1.2.3", "a@fe80::1"})
        EXPECT_TRUE(legal_manager_entry(good)) << good;
    for (const char* bad : {"",     "a",      "@",     "a@",    "@*",    "@*.example.org",
                            "*@h",  "*@*",    "a@h*",  "a@*h",  "a@h@k", "a@.example.org",
                            "a@h.", "a@h..k", "a@h k", "a b@h", "a@*.",  "a@*.*.org",
                            "+",    "--a@h"})
        EXPECT_FALSE(legal_manager_entry(bad)) << bad;
}

}  // namespace
}  // namespace pbs::host
