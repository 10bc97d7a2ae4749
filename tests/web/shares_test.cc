#include "tools/web/pages/shares.h"

#include <gtest/gtest.h>

#include "tests/web/site_of.h"

namespace pbs::web {
namespace {

TEST(SharesTest, EachElementHasItsPartOfTheWhole) {
    const SmallSite site;
    const StatusOf groups(
        "g1", {{"tree_element", "physics:root=60,chemistry:root=30,alice:physics=10,bob:physics=5"},
               {"unknown_shares", "10"},
               {"decay_factor", "0.5"},
               {"comment", kScript}});
    const Answer answer = shares_answer(site.view(), groups.get());
    EXPECT_TRUE(is_a(answer, "Shares"));
    const Json& group = answer.json["groups"][0];
    EXPECT_EQ((Json{{{"policy", "p1"}, {"fairshare", true}}}), group["policies"]);
    const Json& tree = group["tree"];
    ASSERT_EQ(5, tree.size());
    EXPECT_EQ("physics", tree[0]["name"]);
    EXPECT_DOUBLE_EQ(0.6, tree[0]["part"]);
    EXPECT_EQ("alice", tree[1]["name"]);
    EXPECT_EQ(1, tree[1]["depth"]);
    EXPECT_DOUBLE_EQ(0.4, tree[1]["part"]);
    EXPECT_EQ("unknown", tree[4]["name"]);
    EXPECT_DOUBLE_EQ(0.1, tree[4]["part"]);
}

TEST(SharesTest, WithoutGroups) {
    const SmallSite site;
    const Answer answer = shares_answer(site.view(), nullptr);
    EXPECT_TRUE(is_a(answer, "Shares"));
    EXPECT_TRUE(answer.json["groups"].empty());
}

}  // namespace
}  // namespace pbs::web
