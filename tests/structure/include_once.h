// Checks that headers have a guard: #pragma once or, in an installed header, a macro of this project, which
// also protects from a second copy of the file.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// Checks every header in tests/ and the folders of `table` below `root`. Returns a violation for each header
// whose first directive isn't the right guard.
std::vector<Violation> check_include_once(const std::filesystem::path& root, std::span<const Rule> table);

}  // namespace pbs::structure
