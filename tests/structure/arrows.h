// The permitted dependencies between the folders of this project, and a check that finds other dependencies
// in a source tree.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::structure {

// Says what a folder may use besides itself and third-party code.
struct Rule {
    std::string_view folder;
    // Headers. An entry that ends in '/' stands for all headers directly in that folder, but not in folders
    // below it that have rules of their own. Any other entry is one header.
    std::vector<std::string_view> headers;
    // CMake targets of this project that the folder's targets may link.
    std::vector<std::string_view> targets;
};

// Returns the rules of this project. A file belongs to the rule with the longest folder that contains it.
std::span<const Rule> rules();

struct Violation {
    std::string file;  // relative to the root of the tree
    int line = 0;
    std::string text;  // text of the include, or name of the linked target
    std::string why;
};
std::string to_string(const Violation& violation);

// Checks every #include and every target_link_libraries() in the folders of `table` below `root`. tests, man
// and demo have no rules, and so aren't checked.
std::vector<Violation> check_tree(const std::filesystem::path& root, std::span<const Rule> table);

}  // namespace pbs::structure
