#include "tests/structure/constant_names.h"

#include <regex>
#include <sstream>
#include <string>

#include "tests/structure/sources.h"

namespace pbs::structure {

std::vector<Violation> check_constant_names(const std::filesystem::path& root, std::span<const Rule> table) {
    // The definition's type must have no bracket, since a bracket before the end of the name would mean a
    // function.
    static const std::regex definition(
        R"(^(?:\s*(?:inline |static )*constexpr|(?:inline |static |extern )*const)\s[^=;{}()]*?)"
        R"([\s&*>]([a-z]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=|\{|;).*)");
    static const std::regex good("k[A-Z0-9][A-Za-z0-9]*");
    std::vector<Rule> folders(table.begin(), table.end());
    folders.push_back({"tests", {}, {}});
    std::vector<Violation> found;
    for (const std::filesystem::path& file : governed_files(root, folders)) {
        std::istringstream text(read_text(file));
        std::string line;
        for (int number = 1; std::getline(text, line); ++number) {
            std::smatch name;
            if (line.find("const") == std::string::npos || !std::regex_match(line, name, definition))
                continue;
            if (std::regex_match(name[1].str(), good)) continue;
            found.push_back({file.lexically_relative(root).generic_string(), number, name[1].str(),
                             "a constant is named kName"});
        }
    }
    return found;
}

}  // namespace pbs::structure
