// Whether each file includes what it names. The compiler says so only without precompiled headers, with which
// builds of the tests are made.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// A header and what comes from it. A name that ends in "::" stands for all that is in that namespace.
struct Header {
    std::string_view file;
    std::vector<std::string_view> names;
};

// The table: the headers that are precompiled (pbs_common_headers and those of CLI11), and those that come
// with them. What every container's header declares (std::move, std::pair, std::begin) is left out.
std::span<const Header> headers();

// Checks every C++ file under the folders of `table` that exist in `root`: of each name that `known` holds,
// the header is included by the file, or by a header of this project that it includes. One violation for each
// header that is missing, at its first use.
std::vector<Violation> check_includes(const std::filesystem::path& root, std::span<const Rule> table,
                                      std::span<const Header> known);

}  // namespace pbs::structure
