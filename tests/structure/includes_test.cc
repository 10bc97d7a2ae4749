// Checks the includes of this project's files, and that the check finds missing includes.
#include "tests/structure/includes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/structure/small_tree.h"

namespace pbs::structure {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> check_includes(const Tree& tree) {
    return describe(check_includes(tree.root(), rules(), headers()));
}

TEST(Includes, EveryFileOfThisTreeIncludesWhatItNames) {
    EXPECT_THAT(describe(check_includes(PBS_SOURCE_DIR, rules(), headers())), IsEmpty());
}

TEST(IncludesCheck, CatchesAMissingHeaderAtItsFirstUse) {
    const Tree tree;
    tree.add("rrule/a.cc", "#include <string>\n\nstd::string a;\nstd::vector<int> b;\nstd::vector<int> c;\n");
    EXPECT_THAT(check_includes(tree), ElementsAre("rrule/a.cc:4: std::vector: needs #include <vector>"));
}

TEST(IncludesCheck, CatchesItInAHeader) {
    const Tree tree;
    tree.add("objects/a.h", "std::optional<int> f();\n");
    tree.add("objects/a.cc", "#include \"objects/a.h\"\n\n#include <optional>\n");
    EXPECT_THAT(check_includes(tree), ElementsAre("objects/a.h:1: std::optional: needs #include <optional>"));
}

TEST(IncludesCheck, AHeaderOfThisProjectGivesWhatItIncludes) {
    const Tree tree;
    tree.add("rrule/a.h", "#include <map>\nstd::map<int, int> f();\n");
    tree.add("rrule/b.h", "#include \"rrule/a.h\"\n");
    tree.add("rrule/b.cc", "#include \"b.h\"\nstd::map<int, int>::iterator i;\n");
    EXPECT_THAT(check_includes(tree), IsEmpty());
}

TEST(IncludesCheck, HeadersThatIncludeEachOtherEnd) {
    const Tree tree;
    tree.add("rrule/a.h", "#include \"rrule/b.h\"\n");
    tree.add("rrule/b.h", "#include \"rrule/a.h\"\nstd::set<int> f();\n");
    EXPECT_THAT(check_includes(tree), ElementsAre("rrule/b.h:2: std::set: needs #include <set>"));
}

TEST(IncludesCheck, NamespacesStandForWhatIsInThem) {
    const Tree tree;
    tree.add("rrule/a.cc",
             "std::chrono::days::rep a;\nauto b = fmt::join(x, y);\nauto c = std::ranges::sort(x);\n"
             "auto d = tl::unexpected(x);\n");
    EXPECT_THAT(check_includes(tree),
                ElementsAre("rrule/a.cc:1: std::chrono::days::rep: needs #include <chrono>",
                            "rrule/a.cc:2: fmt::join: needs #include <fmt/format.h>",
                            "rrule/a.cc:3: std::ranges::sort: needs #include <algorithm>",
                            "rrule/a.cc:4: tl::unexpected: needs #include <tl/expected.hpp>"));
}

TEST(IncludesCheck, CommentsAndStringsNameNothing) {
    const Tree tree;
    tree.add("rrule/a.cc",
             "// std::vector\n/* std::set\n std::map */ int a;\nauto b = \"std::vector \\\" std::set\";\n"
             "auto c = R\"x(\" std::map )\" )x\";\nchar d = '\"';\nint e = 1'000;\nstd::deque<int> f;\n");
    EXPECT_THAT(check_includes(tree), ElementsAre("rrule/a.cc:8: std::deque: needs #include <deque>"));
}

TEST(IncludesCheck, ANameThatOnlyBeginsAlikeIsAnother) {
    const Tree tree;
    tree.add("rrule/a.cc", "std::vectors a;\nmystd::vector b;\npbs::std_like::map c;\n");
    EXPECT_THAT(check_includes(tree), IsEmpty());
}

}  // namespace
}  // namespace pbs::structure
