#include "tests/structure/include_once.h"

#include <algorithm>
#include <array>
#include <regex>
#include <string>
#include <string_view>

#include "tests/structure/sources.h"

namespace pbs::structure {
namespace {

constexpr std::array<std::string_view, 3> kInstalled = {"ifl/pbs_error.h", "ifl/pbs_ifl.h",
                                                        "server_plugin/plugin/pbs_plugin.h"};

}  // namespace

std::vector<Violation> check_include_once(const std::filesystem::path& root, std::span<const Rule> table) {
    static const std::regex directive(R"(^#[^\n]*)", std::regex::multiline);
    static const std::regex guard(R"(^#ifndef (PBSPOLICY_\w+)\n#define \1\n)", std::regex::multiline);
    std::vector<Rule> folders(table.begin(), table.end());
    folders.push_back({"tests", {}, {}});
    std::vector<Violation> found;
    for (const std::filesystem::path& file : governed_files(root, folders)) {
        if (file.extension() != ".h") continue;
        const std::string name = file.lexically_relative(root).generic_string();
        const std::string text = read_text(file);
        std::smatch first;
        std::regex_search(text, first, directive);
        std::smatch guarded;
        const bool by_guard =
            std::regex_search(text, guarded, guard) && guarded.position() == first.position();
        if (std::find(kInstalled.begin(), kInstalled.end(), name) != kInstalled.end()) {
            if (!by_guard) found.push_back({name, 1, first.str(), "an installed header has a guard"});
        } else if (first.str() != "#pragma once") {
            found.push_back({name, 1, first.str(), "a header begins with #pragma once"});
        }
    }
    return found;
}

}  // namespace pbs::structure
