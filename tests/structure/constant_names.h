// Names of constants: kName, in headers, sources and tests alike.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// Checks every header and source under the folders of `table` that exist in `root`, and under tests/. One
// violation for each constant that is defined by constexpr, or by const outside of functions, and has another
// kind of name. It reads line by line: a definition whose name isn't on its first line is not seen.
std::vector<Violation> check_constant_names(const std::filesystem::path& root, std::span<const Rule> table);

}  // namespace pbs::structure
