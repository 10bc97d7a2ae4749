// Checks that constants have names such as kName, in headers, sources and tests.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// Checks every header and source in tests/ and the folders of `table` below `root`. Returns a violation for
// each constant whose name isn't one such as kName. A constant is defined by constexpr, or by const outside
// of functions. If the name isn't on the first line of its definition, it isn't checked.
std::vector<Violation> check_constant_names(const std::filesystem::path& root, std::span<const Rule> table);

}  // namespace pbs::structure
