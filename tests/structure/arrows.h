// Dependencies between folders: the one table, and the check of a source tree against it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::structure {

// A folder, and what it may use besides itself and third-party code.
struct Rule {
    std::string_view folder;
    // Headers: an entry that ends in '/' stands for every header directly in that folder (not in folders
    // below it that have a rule of their own); any other entry is one header.
    std::vector<std::string_view> headers;
    // CMake targets of this project that its own targets may link.
    std::vector<std::string_view> targets;
};

// Returns the table. A file belongs to the rule with the longest folder that holds it.
std::span<const Rule> rules();

struct Violation {
    std::string file;  // relative to the root of the tree
    int line = 0;
    std::string text;  // the include or the linked target
    std::string why;
};
std::string to_string(const Violation& violation);

// Checks every #include of every source file and every target_link_libraries() of every CMakeLists.txt under
// the folders of `table` that exist in `root`. Tests, man and demo are free to use everything.
std::vector<Violation> check_tree(const std::filesystem::path& root, std::span<const Rule> table);

}  // namespace pbs::structure
