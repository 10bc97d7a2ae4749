#include "server_plugin/host/store/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/client/backup_folders.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/version.h"
#include "sqlite/connection.h"
#include "sqlite/loss.h"
#include "values/utc.h"

namespace pbs::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// The longest waits for the locks of server.db and policy.db, in the order of locking. The wait for server.db
// may be longer. The wait for policy.db is short, because server.db, which the loop writes, is locked
// meanwhile; a thread that works on a large change may have policy.db locked for long.
constexpr std::array kLockWait = {200ms, 20ms};
constexpr auto kLockPause = 50ms;
constexpr int kLockTries = 400;
constexpr int kPagesAStep = 1024;

struct Source {
    std::string path;
    std::optional<sqlite::Connection> reader;  // within a read transaction
    int64_t version = 0;
};
using Sources = std::array<Source, 2>;

Result<sqlite::Connection> open(const std::string& path, sqlite::Connection::Open how) {
    auto connection = sqlite::Connection::open(path, how);
    if (!connection) return file_failed(path, "can not be opened", connection.error());
    return std::move(*connection);
}

// Begins to read both databases while nobody can write to either. Returns false if another program is writing
// to one of them.
Result<bool> begin_together(Sources& sources) {
    // Open the paths again, because a restore replaces the files.
    std::array<std::optional<sqlite::Connection>, 2> writers;
    for (size_t i = 0; i < sources.size(); ++i) {
        auto writer = open(sources[i].path, sqlite::Connection::Open::write);
        if (!writer) return tl::unexpected(writer.error());
        writer->wait_for_others(kLockWait[i]);
        if (auto begun = writer->run("BEGIN IMMEDIATE"); !begun) {
            if (writer->failure().about == sqlite::Failure::About::busy) return false;
            return file_failed(sources[i].path, "can not be read", begun.error());
        }
        writers[i] = std::move(*writer);
    }
    for (Source& source : sources) {
        auto reader = open(source.path, sqlite::Connection::Open::write);
        if (!reader) return tl::unexpected(reader.error());
        // Make a query, because a transaction takes its view of the database at its first query.
        auto begun = reader->run("BEGIN");
        auto version = reader->integer("PRAGMA user_version");
        auto tables = reader->integer("SELECT count(*) FROM sqlite_master");
        if (!begun || !version || !tables)
            return file_failed(source.path, "can not be read", reader->error());
        source.version = *version;
        source.reader = std::move(*reader);
    }
    for (size_t i = 0; i < sources.size(); ++i)
        if (writers[i]->was_moved() || sources[i].reader->was_moved()) return false;
    return true;
}

Result<void> check_home(const std::string& home) {
    struct stat status {};
    for (std::string_view name : kDatabaseNames) {
        const std::string path = fmt::format("{}/server_priv/{}", home, name);
        if (::stat(path.c_str(), &status) != 0)
            return file_failed(path, "can not be read", system_text(errno));
        if (::access(path.c_str(), R_OK | W_OK) != 0)
            return file_failed(path, "can not be read", system_text(errno));
    }
    const std::string journal = home + "/server_priv/restore.journal";
    if (::lstat(journal.c_str(), &status) == 0)
        return file_failed(journal, "is there",
                           "a restore was cut short; start the server, which completes it");
    if (errno != ENOENT) return file_failed(journal, "can not be looked for", system_text(errno));
    return {};
}

Result<Sources> open_sources(const std::string& home) {
    Sources sources;
    for (size_t i = 0; i < sources.size(); ++i)
        sources[i].path = fmt::format("{}/server_priv/{}", home, kDatabaseNames[i]);
    for (int tries = 0; tries < kLockTries; ++tries) {
        auto begun = begin_together(sources);
        if (!begun) return tl::unexpected(begun.error());
        // A restore may have begun while the files were opened: one of them could be old and one new.
        if (auto ok = check_home(home); !ok) return tl::unexpected(ok.error());
        if (*begun) return sources;
        std::this_thread::sleep_for(kLockPause);
    }
    return fail(PBSE_SYSTEM,
                fmt::format("the databases of {} are busy all the time: another program writes them", home));
}

Result<void> sync_file(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd || ::fsync(fd.get()) != 0) return file_failed(path, "can not be written", system_text(errno));
    return {};
}

// Makes a new file with this text, readable by its owner only.
Result<void> make_file(const std::string& path, std::string_view text) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd || !write_all(fd.get(), text) || ::fsync(fd.get()) != 0)
        return file_failed(path, "can not be written", system_text(errno));
    return {};
}

// Copies a database completely, and brings the copy to the disk. No part of the copy is in a -wal file,
// because SQLite removes that file when the connection is closed.
Result<Manifest::Database> copy_database(Source& source, const std::string& directory,
                                         std::string_view name) {
    const std::string path = fmt::format("{}/{}", directory, name);
    if (auto made = make_file(path, ""); !made) return tl::unexpected(made.error());
    {
        auto copy = open(path, sqlite::Connection::Open::create);
        if (!copy) return tl::unexpected(copy.error());
        if (auto done = source.reader->copy_to(*copy, kPagesAStep); !done)
            return file_failed(source.path, fmt::format("can not be copied to {}", path), done.error());
        // Reset the numbers by which losses are found (sqlite/loss.h), because they belong to this home only.
        if (auto done = sqlite::forget_numbers(*copy); !done)
            return file_failed(path, "can not be written", done.error());
        if (auto whole = copy->check(false); !whole)
            return file_failed(source.path, whole.error().verdict(), whole.error().text);
    }
    if (auto done = sync_file(path); !done) return tl::unexpected(done.error());
    auto measured = measure(directory, name);
    if (measured) measured->version = source.version;
    return measured;
}

Result<Manifest> copy_all(const std::string& home, const std::string& directory,
                          std::chrono::sys_seconds now) {
    auto sources = open_sources(home);
    if (!sources) return tl::unexpected(sources.error());
    Manifest manifest;
    manifest.program = server_version();
    manifest.date = values::utc_text(now);
    manifest.home = home;
    // Only a policy.db of the plugin has the table `history`; without it there are no revisions.
    if (auto revision = (*sources)[1].reader->integer("SELECT coalesce(max(revision), 0) FROM history"))
        manifest.revision = *revision;
    for (size_t i = 0; i < sources->size(); ++i) {
        auto copied = copy_database((*sources)[i], directory, kDatabaseNames[i]);
        if (!copied) return tl::unexpected(copied.error());
        manifest.databases.push_back(std::move(*copied));
    }
    if (auto done = make_file(directory + "/MANIFEST", manifest.text()); !done)
        return tl::unexpected(done.error());
    if (!sync_directory(directory)) return file_failed(directory, "can not be written", system_text(errno));
    return manifest;
}

Result<void> check_target(const fs::path& directory) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(directory, error))) return {};
    if (!fs::is_directory(directory, error))
        return file_failed(directory.string(), "is in the way", "not a directory");
    if (!fs::is_empty(directory, error) || error)
        return file_failed(directory.string(), "is in the way", "the directory is not empty");
    return {};
}

}  // namespace

tl::unexpected<Error> file_failed(std::string_view path, std::string_view doing, std::string_view why) {
    return fail(PBSE_SYSTEM, fmt::format("{}: {}: {}", path, doing, why));
}

Result<Manifest> back_up(const std::string& home_path, const std::string& directory_path,
                         std::chrono::sys_seconds now) {
    std::error_code error;
    const std::string home = fs::absolute(home_path, error).lexically_normal().string();
    fs::path directory = fs::absolute(directory_path, error).lexically_normal();
    if (!directory.has_filename()) directory = directory.parent_path();
    if (home_path.empty() || directory_path.empty() || error)
        return fail(PBSE_SYSTEM,
                    fmt::format("\"{}\" is not a directory to write a backup to", directory_path));
    if (auto ok = check_home(home); !ok) return tl::unexpected(ok.error());
    if (auto ok = check_target(directory); !ok) return tl::unexpected(ok.error());
    std::string partial =
        fmt::format("{}{}{}", directory.string(), client::kUnfinishedBackup, client::kTemporary);
    if (::mkdtemp(partial.data()) == nullptr)
        return file_failed(partial, "can not be made", system_text(errno));
    auto manifest = copy_all(home, partial, now);
    if (manifest && ::rename(partial.c_str(), directory.c_str()) != 0)
        manifest = file_failed(directory.string(), "can not be made", system_text(errno));
    if (manifest && !sync_directory(directory.parent_path().string())) {
        manifest = file_failed(directory.parent_path().string(), "can not be written", system_text(errno));
        // A refused backup must not look like a whole one, also while it is removed.
        if (::rename(directory.c_str(), partial.c_str()) != 0) partial = directory.string();
    }
    if (!manifest) fs::remove_all(partial, error);
    return manifest;
}

}  // namespace pbs::host
