#include "tests/structure/sources.h"

#include <algorithm>
#include <array>

#include "tests/file_text.h"

namespace pbs::structure {
namespace fs = std::filesystem;

std::vector<fs::path> governed_files(const fs::path& root, std::span<const Rule> table) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& top : fs::directory_iterator(root)) {
        const std::string name = top.path().filename().string();
        const bool governed = std::any_of(table.begin(), table.end(), [&](const Rule& rule) {
            return rule.folder == name || inside(rule.folder, name);
        });
        if (!governed || !top.is_directory()) continue;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top.path())) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool is_source(const fs::path& file) {
    static constexpr std::array<std::string_view, 7> kEndings{".h",   ".hpp", ".c", ".cc",
                                                              ".cpp", ".inc", ".in"};
    return std::find(kEndings.begin(), kEndings.end(), file.extension().string()) != kEndings.end();
}

bool inside(std::string_view path, std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string read_text(const fs::path& file) {
    return pbs::test::file_text(file);
}

int line_at(std::string_view text, std::size_t offset) {
    return 1 + static_cast<int>(
                   std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

std::string included_path(const fs::path& root, const fs::path& file, std::string_view written) {
    const fs::path beside = (file.parent_path() / written).lexically_normal();
    if (fs::exists(beside)) return beside.lexically_relative(root).generic_string();
    return fs::path(written).lexically_normal().generic_string();
}

}  // namespace pbs::structure
