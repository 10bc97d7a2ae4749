// Tables for people.
#include "text/table.h"

#include <gtest/gtest.h>

namespace pbs::text {
namespace {

TEST(Table, AlignsItsColumns) {
    const std::vector<TableRow> rows = {
        {"name", "queue", "jobs"}, {"a", "workq", "1"}, {"longer", "", "100"}};
    EXPECT_EQ(table(rows),
              "name    queue  jobs\n"
              "a       workq     1\n"
              "longer          100\n");
    EXPECT_EQ(table(rows, 2),
              "name    queue  jobs\n"
              "a       workq     1\n"
              "longer          100\n");
    EXPECT_EQ(table({{"a", "bc", "d"}, {"x", "y", "z"}}, 2),
              "a  bc  d\n"
              "x  y   z\n");
}

TEST(Table, RowsMayBeShortOrEmpty) {
    EXPECT_EQ(table({{"heading"}, {}, {"all", "4"}}), "heading\n\nall      4\n");
    EXPECT_EQ(table({}), "");
}

}  // namespace
}  // namespace pbs::text
