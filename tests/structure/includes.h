// Checks that each file includes what it names. The compiler says so only without precompiled headers, with
// which builds of the tests are made.
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

// Returns the table: the headers that are precompiled (pbs_common_headers and those of CLI11), and those that
// come with them. Names that every container's header declares (std::move, std::pair, std::begin) are left
// out.
std::span<const Header> headers();

// Checks every C++ file under the folders of `table` that exist in `root`: the header of each name that
// `known` holds is included by the file, or by a header of this project that it includes. One violation for
// each missing header, at its first use.
std::vector<Violation> check_includes(const std::filesystem::path& root, std::span<const Rule> table,
                                      std::span<const Header> known);

}  // namespace pbs::structure
