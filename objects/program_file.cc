#include "objects/program_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <utility>

namespace pbs::objects {
namespace {

constexpr uid_t kLastSystemUser = 10;
constexpr gid_t kLastSystemGroup = 9;

using Checked = tl::expected<void, std::string>;

Checked check_owner(const std::string& path, const struct stat& found) {
    if (found.st_uid <= kLastSystemUser || found.st_uid == geteuid()) return {};
    return tl::unexpected(fmt::format("{} belongs to user {}, expected the system or the server's own user",
                                      path, found.st_uid));
}

Checked check_directory(const std::string& path, bool of_systems_group) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0)
        return tl::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    if (Checked owner = check_owner(path, found); !owner) return owner;
    if (of_systems_group && found.st_gid > kLastSystemGroup)
        return tl::unexpected(
            fmt::format("its directory {} is of group {}, expected a group from 0 to 9", path, found.st_gid));
    if ((found.st_mode & S_IWGRP) != 0 && found.st_gid > kLastSystemGroup)
        return tl::unexpected(fmt::format("its directory {} is writable by group {}", path, found.st_gid));
    if ((found.st_mode & S_IWOTH) != 0 && (found.st_mode & S_ISVTX) == 0)
        return tl::unexpected(fmt::format("its directory {} is writable by everybody", path));
    return {};
}

Checked check_file(const std::string& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0)
        return tl::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    if (!S_ISREG(found.st_mode)) return tl::unexpected(fmt::format("{} is not a file", path));
    if (Checked owner = check_owner(path, found); !owner) return owner;
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return tl::unexpected(fmt::format("{} is writable by others than its owner", path));
    if (access(path.c_str(), X_OK) != 0) return tl::unexpected(fmt::format("{} is not executable", path));
    return {};
}

// Returns the path without links. Calls `check` for each directory above the file.
tl::expected<std::string, std::string> resolve(const std::string& path,
                                               const std::function<Checked(const std::string&)>& check) {
    if (!path.starts_with('/')) return tl::unexpected(fmt::format("{} is not an absolute path", path));
    char real[PATH_MAX];
    if (realpath(path.c_str(), real) == nullptr)
        return tl::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    std::string whole = real;
    for (std::size_t slash = 0; slash != std::string::npos; slash = whole.find('/', slash + 1)) {
        const std::string directory = slash == 0 ? "/" : whole.substr(0, slash);
        if (Checked checked = check(directory); !checked) return tl::unexpected(checked.error());
    }
    return whole;
}

Checked check_program(const std::string& path, bool of_systems_group) {
    const auto file = resolve(
        path, [&](const std::string& directory) { return check_directory(directory, of_systems_group); });
    return file ? check_file(*file) : tl::unexpected(file.error());
}

// Checks that nobody but root or this user may change the file or the directory.
Checked check_roots(const std::string& path, bool directory) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0)
        return tl::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    if (found.st_uid != 0 && found.st_uid != geteuid())
        return tl::unexpected(fmt::format("{} belongs to user {}, expected root", path, found.st_uid));
    const bool sticky = directory && (found.st_mode & S_ISVTX) != 0;
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky)
        return tl::unexpected(fmt::format("{} is writable by others than its owner", path));
    if (!directory && !S_ISREG(found.st_mode)) return tl::unexpected(fmt::format("{} is not a file", path));
    return {};
}

}  // namespace

Checked check_program_file(const std::string& path) {
    return check_program(path, false);
}

Checked check_roots_program(const std::string& path) {
    return check_program(path, true);
}

tl::expected<std::string, std::string> roots_file(const std::string& path) {
    auto file = resolve(path, [](const std::string& directory) { return check_roots(directory, true); });
    if (!file) return file;
    if (const Checked safe = check_roots(*file, false); !safe) return tl::unexpected(safe.error());
    return file;
}

ProgramCall program_call(std::string_view command) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (const char c : command) {
        const bool blank = c == ' ' || c == '\t';
        if (quote == 0 && blank) {
            in_word = false;
            continue;
        }
        if (!std::exchange(in_word, true)) words.emplace_back();
        if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = 0;
        else
            words.back() += c;
    }
    if (words.empty()) return {};
    ProgramCall call{std::move(words.front())};
    call.arguments.assign(std::make_move_iterator(words.begin() + 1), std::make_move_iterator(words.end()));
    return call;
}

Checked check_program_call(const ProgramCall& call) {
    if (Checked checked = check_program_file(call.path); !checked || call.arguments.empty()) return checked;
    char real[PATH_MAX];
    if (realpath(call.path.c_str(), real) == nullptr)
        return tl::unexpected(fmt::format("{}: {}", call.path, std::strerror(errno)));
    const std::string resolved = real;
    for (const std::string_view directory : {"/bin/", "/sbin/", "/lib", "/usr/bin/", "/usr/sbin/", "/usr/lib",
                                             "/usr/share/", "/usr/games/", "/etc/alternatives/"})
        if (resolved.starts_with(directory))
            return tl::unexpected(
                fmt::format("{} is a program of the system, which may have no arguments here", resolved));
    std::array<char, 2> begins{};
    if (!std::ifstream(resolved).read(begins.data(), begins.size()) || begins != std::array{'#', '!'})
        return tl::unexpected(
            fmt::format("{} is not a script, and only scripts may have arguments here", resolved));
    return {};
}

}  // namespace pbs::objects
