// Guards of headers: #pragma once; where programs of others include a header, a guard of the project's own,
// which a second copy of the installed file has too.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// Checks every header under the folders of `table` that exist in `root`, and under tests/. One violation for
// each header whose first directive is another.
std::vector<Violation> check_include_once(const std::filesystem::path& root, std::span<const Rule> table);

}  // namespace pbs::structure
