#include "migrate/resource_group.h"

#include "migrate/migrate.h"
#include "objects/snapshot.h"
#include "objects/store.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ResourceGroup parsed(const std::string& text) {
    auto file = parse_resource_group(text, "resource_group");
    EXPECT_THAT(texts(file.mistakes), IsEmpty());
    return file;
}

std::vector<std::string> elements(const std::string& text) {
    std::vector<std::string> out;
    for (const ShareGroup& group : parsed(text).groups) out.push_back(group.element());
    return out;
}

std::vector<std::string> problems(const std::string& text) {
    return texts(parse_resource_group(text, "resource_group").mistakes);
}

TEST(ResourceGroup, ATree) {
    EXPECT_THAT(elements("# the site's groups\n* and another comment\n\ngrp1\t50\troot\t10\ngrp2 51 root 20\n"
                         "  alice 60 grp1 5\ngrp3:bob 61 TREEROOT 0\n"),
                ElementsAre("grp1:root=10", "grp2:root=20", "alice:grp1=5", "grp3:bob:root=0"));
    EXPECT_THAT(elements(""), IsEmpty());
}

TEST(ResourceGroup, LinesOfAnyKind) {
    EXPECT_THAT(elements("\xef\xbb\xbfgrp1 50 root 10\r\nalice 60 grp1 5"),
                ElementsAre("grp1:root=10", "alice:grp1=5"));
    const std::string spaces(5000, ' ');
    EXPECT_THAT(elements("a" + spaces + "1\troot" + spaces + "2\n"), ElementsAre("a:root=2"));
    const ResourceGroup file = parsed("a 1 root 2 # half of it\n");
    EXPECT_THAT(file.notes, ElementsAre("resource_group:1: a: '#' after the shares is left out: the older "
                                        "scheduler read nothing there"));
}

TEST(ResourceGroup, AllMistakesAreReported) {
    EXPECT_THAT(
        problems("a 1 root\nb one root 1\nc 1 root -1\nd 1 nobody 1\na 1 root 2\nb 1 root 2\n"
                 "unknown 1 root 1\n\xc3\xa9 1 root 1\ne 1 e 1\n"),
        ElementsAre(HasSubstr("resource_group:1:9: a: 3 of 4 words are there, expected a name, a number, "
                              "a parent and shares"),
                    HasSubstr("resource_group:2:3: b: 'one' is not the number of a group"),
                    HasSubstr("resource_group:3:10: c: '-1' is no number of shares"),
                    HasSubstr("resource_group:4:5: d: its parent 'nobody' isn't there"),
                    HasSubstr("resource_group:7:1: unknown: is a group of every tree already"),
                    HasSubstr("resource_group:8:1: '?\?' is no name for an element"),
                    HasSubstr("resource_group:9:5: e: its parent 'e' isn't there")));
}

// Lines with mistakes are left out. Other lines may then use their names, and elements below them have no
// parent.
TEST(ResourceGroup, LinesWithMistakesAreLeftOut) {
    const ResourceGroup file = parse_resource_group(
        "a 10 root 5\nb 11 nobody 5\na 12 root 6\nc x root 4\nc 13 root 4\nd 14 b 1\ne 15 a 2\n", "f");
    std::vector<std::string> kept;
    for (const ShareGroup& group : file.groups) kept.push_back(group.element());
    EXPECT_THAT(kept, ElementsAre("a:root=5", "c:root=4", "e:a=2"));
    EXPECT_THAT(texts(file.mistakes), ElementsAre(HasSubstr("f:2:6: b: its parent 'nobody' isn't there"),
                                                  HasSubstr("f:3:1: a: is in line 1 already"),
                                                  HasSubstr("f:4:3: c: 'x' is not the number of a group"),
                                                  HasSubstr("f:6:6: d: its parent 'b' isn't there")));
}

TEST(ResourceGroup, WhatATreeOfAnFsGroupCannotHaveIsLeftOutWithAReason) {
    const ResourceGroup file = parsed("root 60 root 5\nanna 61 unknown 3\nbert 62 anna 1\ncarl 63 root 1\n");
    ASSERT_EQ(file.groups.size(), 1U);
    EXPECT_EQ(file.groups[0].element(), "carl:root=1");
    EXPECT_THAT(file.notes,
                ElementsAre(HasSubstr("resource_group:1: root: is left out: in an fs_group root is"),
                            HasSubstr("resource_group:2: anna: is left out: its parent is unknown"),
                            HasSubstr("resource_group:3: bert: is left out: its parent anna is")));
}

TEST(ResourceGroup, BecomesTheTreeOfTheGroupThatThePoliciesUse) {
    const SchedConfig config = parse_sched_config("fair_share: True\nunknown_shares: 7\n", "sched_config");
    const auto conversion = convert(
        {.sched_config = config, .resource_group = parsed("g 50 root 10\nalice 60 g 5\n")}, {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(to_qmgr(*conversion),
                AllOf(HasSubstr("create fs_group default_fs_group\n"),
                      HasSubstr("set fs_group default_fs_group unknown_shares = 7\n"),
                      HasSubstr("set policy default_policy fairshare_group = default_fs_group\n"),
                      HasSubstr("set fs_group default_fs_group tree_element = \"g:root=10,alice:g=5\"\n")));
    const Folder home;
    auto store = objects::Store::open(home.path("policy.db"), {"UTC", {}}, {});
    ASSERT_TRUE(store);
    const auto applied =
        store->apply(conversion->changes, {"root", "localhost", objects::manager_privilege}, {});
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_THAT(applied->snapshot->fs_group("default_fs_group")->list("tree_element"),
                ElementsAre("g:root=10", "alice:g=5"));
}

TEST(ResourceGroup, ATreeAloneIsReadyForAPolicy) {
    const auto conversion = convert({.resource_group = parsed("g 50 root 10\n")}, {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(to_text(conversion->report), HasSubstr("set policy default_policy fairshare_group = "
                                                       "default_fs_group"));
    const auto nothing = convert({.resource_group = parsed("# nobody\n")}, {}, nullptr);
    ASSERT_TRUE(nothing);
    EXPECT_THAT(to_qmgr(*nothing), Not(HasSubstr("fs_group")));
}

// The sched_config doesn't set fair_share, which is off by default. The share tree is still migrated, for
// later use.
TEST(ResourceGroup, BesideAFileThatSaysNothingOfFairshare) {
    const SchedConfig config = parse_sched_config("by_queue: True\n", "sched_config");
    const auto conversion =
        convert({.sched_config = config, .resource_group = parsed("g 50 root 10\n")}, {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(to_qmgr(*conversion), AllOf(HasSubstr("unknown_shares = 0\n"),
                                            HasSubstr("fairshare_group = "), Not(HasSubstr("fairshare = "))));
}

TEST(ResourceGroup, TenThousandEntities) {
    std::string text;
    for (int group = 0; group < 100; ++group) {
        const std::string name = "group" + std::to_string(group);
        text += name + " " + std::to_string(group + 1) + " root 10\n";
        for (int user = 0; user < 100; ++user)
            text += "user" + std::to_string(100 * group + user) + " 200 " + name + " 5\n";
    }
    const Folder home;
    auto store = objects::Store::open(home.path("policy.db"), {"UTC", {}}, {});
    ASSERT_TRUE(store);
    LegacyTexts files;
    files.resource_group = LegacyText{"resource_group", text};
    files.sched_config = LegacyText{"sched_config", "fair_share: True\n"};
    const objects::Identity root{"root", "localhost", objects::manager_privilege};
    const auto done = migrate(files, *store, root, {});
    ASSERT_TRUE(done) << testing::PrintToString(texts(done.error()));
    const auto tree = store->snapshot()->fs_group("default_fs_group")->list("tree_element");
    ASSERT_EQ(tree.size(), 10'100U);
    EXPECT_EQ(tree.back(), "user9999:group99=5");
    const auto again = migrate(files, *store, root, {});
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->report.changed());
}

}  // namespace
}  // namespace pbs::migrate::test
