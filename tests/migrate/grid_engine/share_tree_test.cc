// Tests the conversion of Grid Engine's share tree: the file sstree.
#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string node(int id, const std::string& name, int type, int shares, const std::string& below = "NONE") {
    return fmt::format("id={}\nname={}\ntype={}\nshares={}\nchildnodes={}\n", id, name, type, shares, below);
}

TEST(GridShareTree, ATreeOfUsersBecomesAnFsGroup) {
    EXPECT_EQ(grid_commands(
                  {{"sstree", node(0, "Root", 0, 1, "1,2,5") + node(1, "physics", 0, 60, "3,4") +
                                  node(2, "chemistry", 0, 40, "6") + node(3, "ann", 0, 10) +
                                  node(4, "bob", 0, 10) + node(5, "default", 0, 7) + node(6, "carl", 0, 1)}}),
              "create fs_group default_fs_group\n"
              "set fs_group default_fs_group tree_element = "
              "\"physics:root=60,chemistry:root=40,ann:physics=10,bob:physics=10,carl:chemistry=1\"\n"
              "set fs_group default_fs_group entity = euser\n"
              "set fs_group default_fs_group unknown_shares = 7\n"
              "set policy default_policy fairshare_group = default_fs_group\n");
}

TEST(GridShareTree, ATreeOfProjectsBecomesAnFsGroupOfAccounts) {
    const GridFiles files{{"sstree", node(0, "Root", 0, 1, "1,2,3") + node(1, "P1", 1, 50, "4") +
                                         node(2, "P2", 1, 50) + node(3, "default", 0, 10) +
                                         node(4, "default", 0, 1)}};
    EXPECT_THAT(grid_commands(files),
                AllOf(HasSubstr("tree_element = \"P1:root=50,P2:root=50\"\n"),
                      HasSubstr("entity = Account_Name\n"), HasSubstr("unknown_shares = 10\n")));
    EXPECT_THAT(
        grid_notes(files),
        ElementsAre(
            "ge/sstree:16: default: becomes unknown_shares: all users that aren't in the tree have these "
            "shares together, below the root, where Grid Engine gave them to each",
            "ge/sstree:21: default: is left out: all users of an account are one entity",
            "ge/sstree:1: share tree: an fs_group has no projects: entities are accounts of the "
            "projects' names (qsub -A)"));
}

TEST(GridShareTree, UsersBesideTheProjectsOfATreeAreLeftOut) {
    const GridFiles files{{"sstree", node(0, "Root", 0, 1, "1,2,3") + node(1, "P1", 1, 50) +
                                         node(2, "ann", 0, 50) + node(3, "staff", 0, 10, "4,5") +
                                         node(4, "bob", 0, 1) + node(5, "P2", 1, 9)}};
    EXPECT_THAT(grid_commands(files), HasSubstr("tree_element = \"P1:root=50,staff:root=10,P2:staff=9\"\n"));
    EXPECT_THAT(grid_notes(files),
                AllOf(Contains("ge/sstree:11: ann: is left out: the user is in no project, and entities are "
                               "accounts of the projects' names"),
                      Contains(HasSubstr("ge/sstree:21: bob: is left out: "))));
}

TEST(GridShareTree, ATreeOfUsersInProjectsHasPairsOfBoth) {
    const GridFiles files{{"sstree", node(0, "Root", 0, 1, "1,2,5") + node(1, "P1", 1, 50, "3,4") +
                                         node(2, "P2", 1, 40, "6,7") + node(3, "ann", 0, 2) +
                                         node(4, "bob", 0, 1) + node(5, "carl", 0, 9) + node(6, "ann", 0, 3) +
                                         node(7, "default", 0, 4)}};
    EXPECT_THAT(
        grid_commands(files),
        AllOf(HasSubstr("tree_element = \"P1:root=50,P2:root=40,P1:ann:P1=2,P1:bob:P1=1,P2:ann:P2=3\"\n"),
              HasSubstr("entity = egroup:euser\n"), HasSubstr("unknown_shares = 4\n")));
    EXPECT_THAT(grid_notes(files),
                Contains("ge/sstree:26: carl: is left out: the user is in no project, and entities "
                         "are pairs of group and user"));
}

TEST(GridShareTree, NamesAreMadeUnique) {
    const GridFiles files{{"sstree", node(0, "Root", 0, 1, "1,2,3") + node(1, "a", 0, 1, "4") +
                                         node(2, "b", 0, 1, "5") + node(3, "root", 0, 1, "8") +
                                         node(4, "staff", 0, 1, "6") + node(5, "staff", 0, 1, "7") +
                                         node(6, "ann", 0, 1) + node(7, "ann", 0, 1) + node(8, "bob", 0, 1)}};
    EXPECT_THAT(grid_commands(files), HasSubstr("tree_element = \"a:root=1,b:root=1,root_1:root=1,staff:a=1,"
                                                "staff_1:b=1,bob:root_1=1,ann:staff=1\"\n"));
    EXPECT_THAT(
        grid_notes(files),
        AllOf(Contains("ge/sstree:16: root: is called root_1 here"),
              Contains("ge/sstree:26: staff: is called staff_1 here"),
              Contains(
                  "ge/sstree:36: ann: is left out: an fs_group has each entity once, where it comes first")));
}

TEST(GridShareTree, MistakesAreToldWithTheirPlaces) {
    const auto told = [](const std::string& text) { return grid_problems({{"sstree", text}}); };
    EXPECT_THAT(told("name=Root\n"), ElementsAre("ge/sstree:1:1: found 'name', expected a node's id="));
    EXPECT_THAT(told("id=0\nname=Root\nshares=1\nshares=2\n"),
                ElementsAre("ge/sstree:4:1: Root: shares is there twice, expected it once"));
    EXPECT_THAT(told("id=x\n"), ElementsAre("ge/sstree:1:4: 'x' is no number of a node"));
    EXPECT_THAT(told(node(0, "Root", 0, 1, "1")), ElementsAre("ge/sstree:5:12: Root: there is no node '1'"));
    EXPECT_THAT(told(node(0, "Root", 2, 1)),
                ElementsAre("ge/sstree:3:6: Root: '2' is no type, expected 0 (user) or 1 (project)"));
    EXPECT_THAT(told("id=0\nname=Root\nshares=-1\n"),
                ElementsAre("ge/sstree:3:8: Root: '-1' is no number of shares, expected 0 to 2147483647"));
    EXPECT_THAT(
        told("id=0\nname=Root\nshare=1\n"),
        ElementsAre("ge/sstree:3:1: Root: found 'share', expected id, name, type, shares or childnodes"));
    EXPECT_THAT(told("id=0\nname=Root\nshares=\n"),
                ElementsAre("ge/sstree:3:1: Root: has no value, expected one behind ="));
    EXPECT_THAT(told("id=0\n"), ElementsAre("ge/sstree:1:4: this node has no name=, expected one"));
    EXPECT_THAT(
        told(node(0, "Root", 0, 1) + node(1, "ann", 0, 1)),
        ElementsAre("ge/sstree:6:4: ann: is no node's child, expected all nodes below the first one"));
    EXPECT_THAT(told(node(0, "Root", 0, 1, "1") + node(1, "a", 0, 1, "1")),
                ElementsAre("ge/sstree:10:12: a: node '1' is below another node already"));
    EXPECT_THAT(told(node(0, "Root", 0, 1) + node(0, "a", 0, 1)),
                ElementsAre("ge/sstree:6:4: is the id of an earlier node, expected each id once"));
    EXPECT_THAT(told(node(0, "Root", 0, 1, "1") + node(1, "a%b", 0, 1)),
                ElementsAre(HasSubstr("ge/sstree:7:6: a%b: ")));
}

}  // namespace
}  // namespace pbs::migrate::test
