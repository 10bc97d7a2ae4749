#include "server_plugin/plugin/dump_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>

#include "objects/output_file.h"
#include "server_plugin/plugin/file.h"
#include "values/fd.h"

namespace pbs::plugin {
namespace {
namespace fs = std::filesystem;

// The name of an empty file that marks the folders made by this code.
constexpr const char* kMark = ".made_by_scheduler";

using Folder = tl::expected<values::Fd, std::string>;

tl::unexpected<std::string> fail(const fs::path& path, std::string_view why) {
    return tl::unexpected(fmt::format("{}: {}", path.string(), why));
}

Folder open_folder(const values::Fd& above, const char* name, const fs::path& path) {
    values::Fd folder(openat(above.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.get() < 0) return fail(path, system_text(errno));
    return folder;
}

// Opens the scheduler's folder sched_priv. Follows no symbolic link on the resolved path, so a folder that is
// replaced by a link after its path was resolved isn't opened.
Folder open_sched_priv(const fs::path& home, const fs::path& wanted) {
    std::error_code failed;
    const fs::path folder = fs::canonical(wanted, failed);
    if (failed) return fail(wanted, failed.message());
    const fs::path below = folder.lexically_relative(home);
    if (below.empty() || !below.begin()->string().starts_with("sched_priv"))
        return fail(wanted,
                    fmt::format("is not below {}, expected a folder there", (home / "sched_priv").string()));
    values::Fd at(open(home.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (at.get() < 0) return fail(home, system_text(errno));
    for (const fs::path& part : below) {
        Folder next = open_folder(at, part.c_str(), folder);
        if (!next) return next;
        at = *std::move(next);
    }
    return at;
}

bool is_empty(const values::Fd& folder) {
    values::Fd own(openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR* entries = own.get() < 0 ? nullptr : fdopendir(own.get());
    if (entries == nullptr) return false;
    static_cast<void>(own.release());  // closedir() closes it
    bool empty = true;
    while (const dirent* entry = readdir(entries)) {
        const std::string_view name = entry->d_name;
        empty = empty && (name == "." || name == "..");
    }
    closedir(entries);
    return empty;
}

// Returns whether the folder has the mark. Marks a folder that is still empty.
bool is_marked(const values::Fd& folder) {
    struct stat mark {};
    if (fstatat(folder.get(), kMark, &mark, AT_SYMLINK_NOFOLLOW) == 0)
        return S_ISREG(mark.st_mode) && mark.st_uid == geteuid();
    if (!is_empty(folder)) return false;
    const values::Fd made(openat(folder.get(), kMark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    return made.get() >= 0;
}

Folder open_output(const values::Fd& sched_priv, const fs::path& path) {
    const std::string name(objects::kOutputFolder);
    if (mkdirat(sched_priv.get(), name.c_str(), 0750) != 0 && errno != EEXIST)
        return fail(path, system_text(errno));
    Folder folder = open_folder(sched_priv, name.c_str(), path);
    if (!folder) return folder;
    struct stat info {};
    if (fstat(folder->get(), &info) != 0) return fail(path, system_text(errno));
    if (info.st_uid != geteuid())
        return fail(path, fmt::format("belongs to user {}, expected the server's user", info.st_uid));
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail(path, "can be written by others than its owner, expected mode 0755 or less");
    if (!is_marked(*folder))
        return fail(path,
                    fmt::format("was not made by the scheduler, there is no {} in it: move it away", kMark));
    return folder;
}

std::string objection(const struct stat& info) {
    if (!S_ISREG(info.st_mode)) return "is not a regular file";
    if (info.st_uid != geteuid())
        return fmt::format("belongs to user {}, expected the server's user", info.st_uid);
    if (info.st_nlink > 1) return "has another name (a hard link), expected a file of its own";
    return {};
}

// Writes the file's text anew, or appends to it, in place, without a temporary file. Cycles never overlap, so
// only a person who reads the file at that moment can see half of a list.
std::string put(const DumpTarget& target, std::string_view text, bool append) {
    std::error_code failed;
    const fs::path home = fs::canonical(target.home, failed);
    if (failed) return fmt::format("{}: {}", target.home, failed.message());
    const fs::path base = target.sched_priv.empty() ? home / "sched_priv" : fs::path(target.sched_priv);
    const auto sched_priv = open_sched_priv(home, base);
    if (!sched_priv) return sched_priv.error();
    const fs::path folder = base / objects::kOutputFolder;
    const auto output = open_output(*sched_priv, folder);
    if (!output) return output.error();

    const std::string path = (folder / target.name).string();
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (append ? O_APPEND : 0);
    const values::Fd file(openat(output->get(), target.name.c_str(), flags, 0600));
    if (file.get() < 0) return fmt::format("{}: {}", path, system_text(errno));
    struct stat info {};
    std::string why = fstat(file.get(), &info) != 0 ? system_text(errno) : objection(info);
    if (why.empty() && !append && ftruncate(file.get(), 0) != 0) why = system_text(errno);
    if (why.empty() && !values::write_all(file.get(), text)) why = system_text(errno);
    return why.empty() ? why : fmt::format("{}: {}", path, why);
}

std::string put_checked(const DumpTarget& target, std::string_view text, bool append) {
    const auto checked = objects::check_output_file(target.name);
    return checked ? put(target, text, append) : checked.error();
}

}  // namespace

std::string write_dump_file(const DumpTarget& target, std::string_view text) {
    return put_checked(target, text, false);
}

std::string append_dump_file(const DumpTarget& target, std::string_view text) {
    return put_checked(target, text, true);
}

std::string write_usage_dump(const std::string& home, const std::string& sched_priv, std::string_view text) {
    return put({home, sched_priv, std::string(objects::kUsageFile)}, text, false);
}

}  // namespace pbs::plugin
