// Checks the guards of this project's headers, and that the check finds wrong guards.
#include "tests/structure/include_once.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/structure/small_tree.h"

namespace pbs::structure {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> check_once(const Tree& tree) {
    return describe(check_include_once(tree.root(), rules()));
}

TEST(IncludeOnce, EveryHeaderOfThisTreeDoesItTheSameWay) {
    EXPECT_THAT(describe(check_include_once(PBS_SOURCE_DIR, rules())), IsEmpty());
}

TEST(IncludeOnceCheck, CatchesAHeaderWithAGuardOrWithNothing) {
    const Tree tree;
    tree.add("rrule/a.h", "// About a.\n#ifndef PBSPOLICY_A_H\n#define PBSPOLICY_A_H\n#endif\n");
    tree.add("rrule/b.h", "#include <map>\n#pragma once\n");
    tree.add("tests/rrule/c.h", "int c();\n");
    tree.add("rrule/d.h", "// About d.\n#pragma once\n#include <map>\n");
    EXPECT_THAT(check_once(tree),
                ElementsAre("rrule/a.h:1: #ifndef PBSPOLICY_A_H: a header begins with #pragma once",
                            "rrule/b.h:1: #include <map>: a header begins with #pragma once",
                            "tests/rrule/c.h:1: : a header begins with #pragma once"));
}

TEST(IncludeOnceCheck, AnInstalledHeaderHasAGuardThatIsDefined) {
    const Tree tree;
    tree.add("ifl/pbs_error.h", "#pragma once\n");
    tree.add("ifl/pbs_ifl.h", "#ifndef PBSPOLICY_PBS_IFL_H\n#define PBSPOLICY_PBS_IFL_H\n#endif\n");
    tree.add("server_plugin/plugin/pbs_plugin.h", "#ifndef PBSPOLICY_A_H\n#define PBSPOLICY_B_H\n#endif\n");
    EXPECT_THAT(check_once(tree),
                ElementsAre("ifl/pbs_error.h:1: #pragma once: an installed header has a guard",
                            "server_plugin/plugin/pbs_plugin.h:1: #ifndef PBSPOLICY_A_H: an installed header "
                            "has a guard"));
}

}  // namespace
}  // namespace pbs::structure
