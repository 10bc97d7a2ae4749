// Checks the names of tables, and that the check recognises each way to name one.
#include "tests/structure/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/small_tree.h"

namespace pbs::structure {
namespace {
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Tables, AreThoseThatEndTheProcessWithoutMemory) {
    EXPECT_THAT(describe(check_tables(PBS_SOURCE_DIR, rules())), IsEmpty());
}

TEST(TablesCheck, CatchesNamesAndHeadersOfAbseil) {
    const Tree tree;
    const std::string bare = "absl";
    tree.add("rrule/a.h",
             "#include <" + bare + "/container/flat_hash_map.h>\n" + bare + "::flat_hash_map<int, int> m;\n");
    tree.add("rrule/b.cc", "using S = " + bare + "::btree_set<int>;\n");
    tree.add("tests/rrule/c.cc", bare + "::node_hash_map<int, int> m;\n");
    tree.add("values/tables.h", bare + "::flat_hash_set<int> m;\n");
    tree.add("rrule/d.cc", "values::HashMap<int, int> m;\n" + bare + "::InlinedVector<int, 2> v;\n");
    EXPECT_THAT(describe(check_tables(tree.root(), rules())), SizeIs(4));
}

}  // namespace
}  // namespace pbs::structure
