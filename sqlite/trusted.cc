#include "sqlite/trusted.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace pbs::sqlite {
namespace {

std::optional<std::string> wrong_with(const std::string& path, uid_t folders_owner) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return std::nullopt;
        return "can not be looked at: " + std::error_code(errno, std::generic_category()).message();
    }
    if (S_ISLNK(status.st_mode)) return "is a symbolic link, expected the file itself";
    if (!S_ISREG(status.st_mode)) return "is not a regular file";
    if (status.st_uid != 0 && status.st_uid != ::geteuid() && status.st_uid != folders_owner)
        return fmt::format("belongs to uid {}, expected root or uid {}", status.st_uid, ::geteuid());
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fmt::format("may be written by others than its owner (mode {:04o}), expected 0600",
                           status.st_mode & 07777);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> untrusted(const std::string& database) {
    const std::string folder = database.substr(0, database.find_last_of('/') + 1);
    struct stat status {};
    const uid_t owner = ::stat(folder.empty() ? "." : folder.c_str(), &status) == 0 ? status.st_uid : 0;
    for (const std::string_view end : {"", "-wal", "-shm", "-journal", "-mark"}) {
        const std::string path = fmt::format("{}{}", database, end);
        if (const auto wrong = wrong_with(path, owner)) return fmt::format("{} {}", path, *wrong);
    }
    return std::nullopt;
}

}  // namespace pbs::sqlite
