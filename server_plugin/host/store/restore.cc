// Restores a backup (backup.h).
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/store/backup.h"
#include "server_plugin/host/store/database_check.h"
#include "server_plugin/host/store/store.h"
#include "sqlite/connection.h"

namespace pbs::host {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestManifest = 4096;
constexpr size_t kCopiedAtOnce = size_t{64} << 10;
// The suffixes of the names of a database's files. The empty one is for the database itself.
constexpr std::string_view kCompanions[] = {"-wal", "-shm", "-journal", "-mark", ""};

std::string staging(const Home& home) {
    return home.server_priv() + "/restore.new";
}
std::string journal(const Home& home) {
    return home.server_priv() + "/restore.journal";
}

Result<bool> exists_at(const std::string& path) {
    const Existence found = look_for(path);
    if (found == Existence::unknown) return file_failed(path, "can not be looked for", system_text(errno));
    return found == Existence::there;
}

void tell(const StepDone& at_step, const std::string& step) {
    if (at_step) at_step(step);
}

// If root restores, gives a file to the owner of the directory: the user who runs the server has to be able
// to read it.
bool give_to_owner_of(const std::string& directory, int fd) {
    struct stat status {};
    if (::geteuid() != 0) return true;
    return ::stat(directory.c_str(), &status) == 0 && ::fchown(fd, status.st_uid, status.st_gid) == 0;
}

Result<void> write_file(const Home& home, const std::string& path, std::string_view text) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd || !give_to_owner_of(home.server_priv(), fd.get()) || !write_all(fd.get(), text) ||
        ::fsync(fd.get()) != 0)
        return file_failed(path, "can not be written", system_text(errno));
    return {};
}

Result<void> copy_file(const Home& home, const std::string& from, const std::string& to) {
    const Fd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in) return file_failed(from, "can not be read", system_text(errno));
    const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    std::string bytes(kCopiedAtOnce, '\0');
    if (!out || !give_to_owner_of(home.server_priv(), out.get()))
        return file_failed(to, "can not be written", system_text(errno));
    ssize_t size = 0;
    while ((size = ::read(in.get(), bytes.data(), bytes.size())) > 0)
        if (!write_all(out.get(), std::string_view(bytes).substr(0, static_cast<size_t>(size))))
            return file_failed(to, "can not be written", system_text(errno));
    if (size < 0) return file_failed(from, "can not be read", system_text(errno));
    if (::fsync(out.get()) != 0) return file_failed(to, "can not be written", system_text(errno));
    return {};
}

Result<void> clear_staging(const Home& home) {
    std::error_code error;
    fs::remove_all(staging(home), error);
    if (error) return file_failed(staging(home), "can not be removed", error.message());
    return {};
}

// Checks that a backup's policy.db isn't too new for this server. Only the plugin knows the newest version,
// but it has upgraded the home's present policy.db to that version. If there is no policy.db, the next start
// of the server finds out.
Result<void> check_policy_version(const Home& home, const std::string& name, int64_t version) {
    const auto there = exists_at(home.policy_db());
    if (!there) return tl::unexpected(there.error());
    // Open only a regular file, because opening a named pipe would block.
    std::error_code error;
    if (!*there || !fs::is_regular_file(home.policy_db(), error)) return {};
    auto connection = sqlite::Connection::open(home.policy_db(), sqlite::Connection::Open::read);
    if (!connection) return {};
    // Compare only with a database of this program; another program's version means nothing here.
    const auto ours =
        connection->integer("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'history'");
    const auto known = connection->integer("PRAGMA user_version");
    if (!ours || !known || *ours == 0 || version <= *known) return {};
    return file_failed(name, fmt::format("is of version {}", version),
                       fmt::format("{} is of version {}; if this server is a newer one, start it once, which "
                                   "brings that to its own version",
                                   home.policy_db(), *known));
}

// Checks that the copied database matches the manifest, is intact, and isn't too new for this server and the
// plugin.
Result<void> check_copy(const Home& home, const std::string& backup, const Manifest::Database& expected) {
    const std::string name = backup + "/" + expected.name;
    const auto found = measure(staging(home), expected.name);
    if (!found) return tl::unexpected(found.error());
    if (found->size != expected.size || found->sum != expected.sum)
        return file_failed(name, "is damaged", "its size or its sum is not that of the MANIFEST");
    const std::string copy = staging(home) + "/" + expected.name;
    const bool own = expected.name == kDatabaseNames[0];
    if (const auto wrong = wrong_with_database(copy, own ? Store::newest_version() : 0))
        return fail(PBSE_SYSTEM, fmt::format("{} {}", name, *wrong));
    auto connection = sqlite::Connection::open(copy, sqlite::Connection::Open::read);
    if (!connection) return file_failed(copy, "can not be opened", connection.error());
    if (auto whole = connection->check(false); !whole)
        return file_failed(name, whole.error().verdict(), whole.error().text);
    const auto version = connection->integer("PRAGMA user_version");
    if (!version || *version != expected.version)
        return file_failed(name, "is damaged", "its version is not that of the MANIFEST");
    return own ? Result<void>{} : check_policy_version(home, name, *version);
}

Result<void> stage(const Home& home, const std::string& backup, const Manifest& manifest) {
    if (auto done = clear_staging(home); !done) return done;
    if (::mkdir(staging(home).c_str(), 0700) != 0)
        return file_failed(staging(home), "can not be made", system_text(errno));
    for (const Manifest::Database& one : manifest.databases) {
        auto copied = copy_file(home, backup + "/" + one.name, staging(home) + "/" + one.name);
        if (!copied) return copied;
        if (auto ok = check_copy(home, backup, one); !ok) return ok;
    }
    if (!sync_directory(staging(home)) || !sync_directory(home.server_priv()))
        return file_failed(staging(home), "can not be written", system_text(errno));
    return {};
}

Result<Manifest> read_manifest(const std::string& backup) {
    const std::string path = backup + "/MANIFEST";
    auto text = read_file(path, kLargestManifest);
    if (!text) return tl::unexpected(text.error());
    auto manifest = Manifest::parse(*text);
    if (!manifest) return file_failed(path, "is not that of a backup", manifest.error().message);
    return manifest;
}

Result<void> move_file(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0)
        return file_failed(from, fmt::format("can not be moved to {}", to), system_text(errno));
    return {};
}

// Moves a file to another folder. Fails if a file of that name is there.
Result<void> put_aside(const std::string& from, const std::string& to) {
    if (!rename_new(from, to))
        return file_failed(from, fmt::format("can not be moved to {}", to), system_text(errno));
    return {};
}

// Puts the old database aside and moves the new one into its place. While the new one is in restore.new, the
// home's database is the old one; afterwards there is nothing to do.
Result<void> put_in_place(const Home& home, std::string_view name, const std::string& replaced,
                          const StepDone& at_step) {
    const std::string next = fmt::format("{}/{}", staging(home), name);
    const auto waits = exists_at(next);
    if (!waits) return tl::unexpected(waits.error());
    if (!*waits) return {};
    for (std::string_view companion : kCompanions) {
        const std::string old = fmt::format("{}/{}{}", home.server_priv(), name, companion);
        const auto there = exists_at(old);
        if (!there) return tl::unexpected(there.error());
        if (!*there) continue;
        if (auto done = put_aside(old, fmt::format("{}/{}{}", replaced, name, companion)); !done) return done;
        tell(at_step, old + " was put aside");
    }
    if (!sync_directory(replaced)) return file_failed(replaced, "can not be written", system_text(errno));
    if (auto done = move_file(next, fmt::format("{}/{}", home.server_priv(), name)); !done) return done;
    if (!sync_directory(home.server_priv()))
        return file_failed(home.server_priv(), "can not be written", system_text(errno));
    tell(at_step, fmt::format("{} is in its place", name));
    return {};
}

bool legal_folder(std::string_view name) {
    return name.starts_with("replaced-") && name.find('/') == std::string_view::npos;
}

}  // namespace

Result<std::string> free_folder(const Home& home, std::chrono::sys_seconds now) {
    const std::string base = fmt::format("replaced-{:%Y%m%d-%H%M%S}", now);
    std::string name = base;
    for (int number = 2;; ++number) {
        const auto taken = exists_at(home.server_priv() + "/" + name);
        if (!taken) return tl::unexpected(taken.error());
        if (!*taken) return name;
        name = fmt::format("{}-{}", base, number);
    }
}

Result<bool> finish_restore(const Home& home, const StepDone& at_step) {
    const auto decided = exists_at(journal(home));
    if (!decided) return tl::unexpected(decided.error());
    if (!*decided) {
        auto cleared = clear_staging(home);
        if (!cleared) return tl::unexpected(cleared.error());
        return false;
    }
    auto folder = read_file(journal(home), kLargestManifest);
    if (!folder) return tl::unexpected(folder.error());
    while (folder->ends_with('\n')) folder->pop_back();
    if (!legal_folder(*folder))
        return file_failed(journal(home), "is damaged", "expected the name of a folder");
    const std::string replaced = home.server_priv() + "/" + *folder;
    if (::mkdir(replaced.c_str(), 0700) != 0 && errno != EEXIST)
        return file_failed(replaced, "can not be made", system_text(errno));
    for (std::string_view name : kDatabaseNames)
        if (auto done = put_in_place(home, name, replaced, at_step); !done)
            return tl::unexpected(done.error());
    if (::unlink(journal(home).c_str()) != 0)
        return file_failed(journal(home), "can not be removed", system_text(errno));
    tell(at_step, "the journal is removed");
    auto cleared = clear_staging(home);
    if (!cleared) return tl::unexpected(cleared.error());
    // Removes the folder for old databases if it is empty; if not, rmdir() fails, and the folder stays.
    (void)::rmdir(replaced.c_str());
    if (!sync_directory(home.server_priv()))
        return file_failed(home.server_priv(), "can not be written", system_text(errno));
    return true;
}

Result<std::string> restore(const Home& home, const std::string& directory, std::chrono::sys_seconds now,
                            const StepDone& at_step) {
    if (auto done = finish_restore(home, at_step); !done) return tl::unexpected(done.error());
    auto manifest = read_manifest(directory);
    if (!manifest) return tl::unexpected(manifest.error());
    if (auto staged = stage(home, directory, *manifest); !staged) {
        (void)clear_staging(home);
        return tl::unexpected(staged.error());
    }
    tell(at_step, "the backup is checked and copied");
    const auto folder = free_folder(home, now);
    if (!folder) return tl::unexpected(folder.error());
    const std::string next = journal(home) + ".next";
    if (auto done = write_file(home, next, *folder + "\n"); !done) return tl::unexpected(done.error());
    if (auto done = move_file(next, journal(home)); !done) return tl::unexpected(done.error());
    if (!sync_directory(home.server_priv()))
        return file_failed(home.server_priv(), "can not be written", system_text(errno));
    tell(at_step, "the restore is decided");
    if (auto done = finish_restore(home, at_step); !done) return tl::unexpected(done.error());
    const std::string replaced = home.server_priv() + "/" + *folder;
    const auto kept = exists_at(replaced);
    if (!kept) return tl::unexpected(kept.error());
    return *kept ? replaced : std::string();
}

}  // namespace pbs::host
