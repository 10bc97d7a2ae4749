// Tests that the table "Where jobs start differently" of docs/migration.md has a row for each site of
// differences.cc, and that each row has a site.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/openpbs/differences.h"

namespace pbs::e2e {
namespace {

// Returns the first cells of the rows of the table below a heading.
std::vector<std::string> first_cells(const std::string& heading) {
    std::ifstream in(PBS_SOURCE_DIR "/docs/migration.md");
    std::vector<std::string> cells;
    bool in_section = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#")) in_section = line == heading;
        if (!in_section || !line.starts_with("| ")) continue;
        cells.push_back(line.substr(2, line.find(" | ") - 2));
    }
    if (!cells.empty()) cells.erase(cells.begin());  // the table's head
    return cells;
}

TEST(MigrationTable, EachRowHasASiteThatShowsItAndEachSiteARow) {
    std::vector<std::string> sites;
    for (const Difference& difference : differences()) {
        sites.push_back(difference.row);
        EXPECT_EQ(difference.theirs == difference.ours, difference.sometimes) << difference.row;
    }
    const auto rows = first_cells("### Where jobs start differently");
    EXPECT_FALSE(rows.empty());
    EXPECT_THAT(rows, testing::UnorderedElementsAreArray(sites));
}

}  // namespace
}  // namespace pbs::e2e
