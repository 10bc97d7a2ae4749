#include "server_plugin/client/backup_folders.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace pbs::client {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKept = 8;

bool is_name(std::string_view name) {
    return name.size() >= 15 && name[8] == '-' &&
           name.find_first_not_of("0123456789-") == std::string_view::npos;
}

// Returns the folders of backups, oldest first: if `whole`, those of complete backups, otherwise those of
// unfinished ones.
std::vector<fs::path> folders(const fs::path& all, bool whole) {
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(all, error)) {
        const std::string name = entry.path().filename();
        const auto cut = name.find(kUnfinishedBackup);
        std::error_code gone;
        if (is_name(name.substr(0, cut)) && (cut == std::string::npos) == whole && !entry.is_symlink(gone))
            found.emplace_back(entry.last_write_time(gone), entry.path());
    }
    std::ranges::sort(found);
    std::vector<fs::path> paths;
    paths.reserve(found.size());
    for (auto& [time, path] : found) paths.push_back(std::move(path));
    return paths;
}

}  // namespace

fs::path new_backup_folder(const fs::path& all, std::int64_t now) {
    const std::string name =
        fmt::format("{:%Y%m%d-%H%M%S}", std::chrono::sys_seconds(std::chrono::seconds(now)));
    fs::path folder = all / name;
    std::error_code error;
    for (int i = 2; fs::exists(fs::symlink_status(folder, error)); ++i)
        folder = all / fmt::format("{}-{}", name, i);
    return folder;
}

std::vector<fs::path> unfinished_backups(const fs::path& all) {
    return folders(all, false);
}

std::vector<fs::path> too_many_backups(const fs::path& all) {
    std::vector<fs::path> kept = folders(all, true);
    kept.resize(kept.size() - std::min(kept.size(), kMostKept));
    return kept;
}

std::string removed_backups_text(const std::vector<fs::path>& removed) {
    std::string text;
    for (const fs::path& path : removed)
        text += fmt::format("\nremoved the oldest of {}: {}", kMostKept + 1, path.string());
    return text;
}

}  // namespace pbs::client
