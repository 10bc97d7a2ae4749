// The folders of `pbs_config backup` in PBS_HOME/server_priv/backups. Their names are the times of the
// backups: "20261122-203000", perhaps followed by "-2" or another number, and the ending of an unfinished
// backup while the backup is made. Folders with other names were made by hand, and are never removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::client {

// The ending of an unfinished backup's name. The bundled server appends kTemporary.
inline constexpr std::string_view kUnfinishedBackup = ".partial";
// mkdtemp() replaces the Xs by letters and digits. The text before them distinguishes the folder from folders
// that were named by hand, such as "20261122-203000.partial-before".
inline constexpr std::string_view kTemporary = "-pbs-XXXXXX";

// Returns an unused name for a backup made now (seconds since the Epoch).
std::filesystem::path new_backup_folder(const std::filesystem::path& all, std::int64_t now);

// Returns the folders of unfinished backups.
std::vector<std::filesystem::path> unfinished_backups(const std::filesystem::path& all);

// Returns the oldest complete backups, beyond the eight that are kept.
std::vector<std::filesystem::path> too_many_backups(const std::filesystem::path& all);

// Returns a line for each of the removed backups, each after a newline: "removed the oldest of 9: PATH".
std::string removed_backups_text(const std::vector<std::filesystem::path>& removed);

}  // namespace pbs::client
