// Checks the names of this project's constants, and that the check recognises each kind of definition.
#include "tests/structure/constant_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/structure/small_tree.h"

namespace pbs::structure {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> check(const Tree& tree) {
    return describe(check_constant_names(tree.root(), rules()));
}

TEST(ConstantNames, AllOfThisTreeAreAlike) {
    EXPECT_THAT(describe(check_constant_names(PBS_SOURCE_DIR, rules())), IsEmpty());
}

TEST(ConstantNamesCheck, CatchesAnotherNameInEachKindOfDefinition) {
    const Tree tree;
    tree.add("rrule/a.h", "inline constexpr int most_rules = 3;\n");
    tree.add("rrule/b.h", "const char* const names[] = {\"a\"};\n");
    tree.add("rrule/c.h", "    static constexpr std::array<int, 2> pair{1, 2};\n");
    tree.add("tests/rrule/d.cc", "extern const Filter a_filter;\n");
    EXPECT_THAT(check(tree), ElementsAre("rrule/a.h:1: most_rules: a constant is named kName",
                                         "rrule/b.h:1: names: a constant is named kName",
                                         "rrule/c.h:1: pair: a constant is named kName",
                                         "tests/rrule/d.cc:1: a_filter: a constant is named kName"));
}

TEST(ConstantNamesCheck, LeavesFunctionsVariablesAndGoodNamesAlone) {
    const Tree tree;
    tree.add("rrule/a.h",
             "constexpr int most(int a = 3) {\n    const int twice = 2 * a;\n    return twice;\n}\n"
             "inline constexpr int kMost = 3;\nconstexpr const char* kNames[] = {\"a\"};\n"
             "const Rule& rule() {\n}\n");
    EXPECT_THAT(check(tree), IsEmpty());
}

}  // namespace
}  // namespace pbs::structure
