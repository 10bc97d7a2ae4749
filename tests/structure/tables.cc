#include "tests/structure/tables.h"

#include <regex>
#include <string>

#include "tests/structure/sources.h"

namespace pbs::structure {

std::vector<Violation> check_tables(const std::filesystem::path& root, std::span<const Rule> table) {
    static const std::regex bare(
        R"(\babsl(::|/container/)((flat|node)_hash|btree)_(map|set|multimap|multiset)\b)");
    std::vector<Rule> folders(table.begin(), table.end());
    folders.push_back({"tests", {}, {}});
    std::vector<Violation> found;
    for (const std::filesystem::path& file : governed_files(root, folders)) {
        const std::string name = file.lexically_relative(root).generic_string();
        if (!is_source(file) || name == "values/tables.h") continue;
        const std::string text = read_text(file);
        for (std::sregex_iterator one(text.begin(), text.end(), bare), end; one != end; ++one)
            found.push_back({name, line_at(text, static_cast<std::size_t>(one->position())), one->str(),
                             "a table is one of values/tables.h, which end the process without memory"});
    }
    return found;
}

}  // namespace pbs::structure
