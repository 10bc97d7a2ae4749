#include "server_plugin/client/backup_folders.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <system_error>
#include <tuple>

namespace pbs::client {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKept = 8;
constexpr std::size_t kTimeSize = std::string_view("20261122-203000").size();

bool is_unfinished(std::string_view ending) {
    if (!ending.starts_with(kUnfinishedBackup)) return false;
    ending.remove_prefix(kUnfinishedBackup.size());
    const auto fits = [](char given, char expected) {
        return given == expected || (expected == 'X' && std::isalnum(static_cast<unsigned char>(given)) != 0);
    };
    return ending.empty() || std::ranges::equal(ending, kTemporary, fits);
}

bool is_name(std::string_view name) {
    return name.size() >= kTimeSize && name[8] == '-' &&
           name.find_first_not_of("0123456789-") == std::string_view::npos;
}

// Returns the folders of backups, oldest first: if `whole`, those of complete backups, otherwise those of
// unfinished ones. The names tell which is older. Times of folders don't, after a copy of the home.
std::vector<fs::path> folders(const fs::path& all, bool whole) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(all, error)) {
        const std::string name = entry.path().filename();
        const std::string_view ending = std::string_view(name).substr(std::min(name.find('.'), name.size()));
        std::error_code gone;
        if (is_name(std::string_view(name).substr(0, name.size() - ending.size())) &&
            (whole ? ending.empty() : is_unfinished(ending)) && !entry.is_symlink(gone))
            found.push_back(entry.path());
    }
    // Among names with the same second the shorter one is older: "" before "-2" before "-10".
    std::ranges::sort(found, {}, [](const fs::path& path) {
        const std::string name = path.filename();
        return std::tuple(name.substr(0, kTimeSize), name.size(), name);
    });
    return found;
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
