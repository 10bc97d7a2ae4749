#include "tools/web/pages/pages.h"

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

TEST(SharesTest, WhatEachHasHad) {
    const SmallSite site;
    const StatusOf groups("g1", {{"tree_element", "physics:root=60"}});
    StatusOf told("g1", {{"sched", "default"},
                         {"usage_formula", "cput"},
                         {"now", "1795428000"},
                         {"decay_time", "86400"},
                         {"next_decay", "1795430000"}});
    told.add("root",
             {{"kind", "group"}, {"shares", "0"}, {"target", "1"}, {"actual", "1"}, {"usage", "300"}});
    told.add("physics", {{"kind", "entity"},
                         {"parent", "root"},
                         {"shares", "60"},
                         {"target", "0.6"},
                         {"actual", "0.25"},
                         {"usage", "75"},
                         {"place", "1"}});
    const Answer answer = shares_answer(site.view(), groups.get(), cmds::share_trees(told.get()));
    EXPECT_TRUE(is_a(answer, "Shares")) << answer.json.dump();
    const Json& usage = answer.json["groups"][0]["usage"];
    ASSERT_EQ(1, usage.size());
    EXPECT_EQ("default", usage[0]["sched"]);
    EXPECT_EQ(nullptr, usage[0]["last_decay"]);
    EXPECT_EQ(1795430000, usage[0]["next_decay"]);
    ASSERT_EQ(2, usage[0]["elements"].size());
    EXPECT_EQ(nullptr, usage[0]["elements"][0]["place"]);
    const Json& physics = usage[0]["elements"][1];
    EXPECT_EQ("physics", physics["name"]);
    EXPECT_DOUBLE_EQ(0.6, physics["target"]);
    EXPECT_DOUBLE_EQ(0.25, physics["actual"]);
    EXPECT_EQ(1, physics["place"]);
    // The page of another fs_group doesn't show the usage in this group.
    const StatusOf other("g2", {{"tree_element", "physics:root=60"}});
    EXPECT_TRUE(shares_answer(site.view(), other.get(), cmds::share_trees(told.get()))
                    .json["groups"][0]["usage"]
                    .empty());
}

TEST(SharesTest, WithoutGroups) {
    const SmallSite site;
    const Answer answer = shares_answer(site.view(), nullptr);
    EXPECT_TRUE(is_a(answer, "Shares"));
    EXPECT_TRUE(answer.json["groups"].empty());
}

}  // namespace
}  // namespace pbs::web
