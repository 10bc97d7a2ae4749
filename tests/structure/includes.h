// Checks that each file includes the headers of the names that it uses. In builds with tests, headers are
// precompiled, so the compiler doesn't report missing includes.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// A header and the names that it provides. A name that ends in "::" stands for all names in that namespace.
struct Header {
    std::string_view file;
    std::vector<std::string_view> names;
};

// Returns the headers that are precompiled (pbs_common_headers and those of CLI11) or included by them. Names
// that every container's header declares (std::move, std::pair, std::begin) are left out.
std::span<const Header> headers();

// Checks every C++ file in the folders of `table` below `root`. If it uses a name in `known`, the file, or a
// header of this project that it includes, has to include the name's header. Returns a violation for each
// missing header, at the first use of one of its names.
std::vector<Violation> check_includes(const std::filesystem::path& root, std::span<const Rule> table,
                                      std::span<const Header> known);

}  // namespace pbs::structure
