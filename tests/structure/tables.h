// Checks that Abseil's tables are used by the names of values/tables.h.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// Checks every header and source in tests/ and the folders of `table` below `root`. Returns a violation for
// each name of an Abseil table elsewhere than in values/tables.h.
std::vector<Violation> check_tables(const std::filesystem::path& root, std::span<const Rule> table);

}  // namespace pbs::structure
