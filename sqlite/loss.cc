#include "sqlite/loss.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "sqlite/connection.h"
#include "sqlite/mark.h"
#include "sqlite/wal.h"

namespace pbs::sqlite {
namespace {

namespace fs = std::filesystem;

Result<Connection> open(const std::string& path, Connection::Open how) {
    auto connection = Connection::open(path, how);
    if (connection) connection->wait_for_others(std::chrono::seconds(1));
    return connection;
}

std::string date_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return "?";
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(status.st_mtime));
}

std::int64_t size_of(const std::string& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(size);
}

Result<std::optional<Numbered>> numbered_at(const std::string& database) {
    if (size_of(database) == 0) return std::nullopt;
    // An interrupted first start leaves a rollback journal, which only a writing connection can undo.
    const bool interrupted = size_of(database + "-journal") > 0;
    auto connection = open(database, interrupted ? Connection::Open::alone : Connection::Open::read);
    if (!connection) return tl::unexpected(connection.error());
    return numbered(*connection);
}

// Describes the write-ahead log, for a message about a database whose log should be longer.
std::string log_text(const std::string& database, const WalExtent& log) {
    if (log.size == 0) return fmt::format("there is no write-ahead log {}-wal", database);
    if (log.whole < log.size)
        return fmt::format("its write-ahead log {}-wal is whole up to byte {} of {}", database, log.whole,
                           log.size);
    return fmt::format("its write-ahead log {}-wal is whole and has {} commits", database, log.commits);
}

std::string reached(std::string_view position_name, std::int64_t position) {
    return position == 0 ? "" : fmt::format(", {} {}", position_name, position);
}

Loss unmarked(const Numbered& has, std::string_view position_name, std::string_view what) {
    Loss loss;
    loss.text = fmt::format(
        "may have lost something: {}; the database ends with commit {}{}, and whether there "
        "were later ones can't be known",
        what, has.number, reached(position_name, has.position));
    loss.has = has.position;
    return loss;
}

// Brings a file or a folder to the disk.
bool sync(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = fd >= 0 && ::fsync(fd) == 0;
    if (fd >= 0) ::close(fd);
    return synced;
}

bool copy(const std::string& from, const std::string& folder) {
    std::error_code error;
    if (!fs::exists(from, error)) return !error;
    const std::string to = folder + "/" + fs::path(from).filename().string();
    fs::copy_file(from, to, error);
    return !error && sync(to);
}

Result<void> remove(const std::string& path) {
    std::error_code error;
    fs::remove(path, error);
    if (error) return tl::unexpected(fmt::format("{} can not be removed: {}", path, error.message()));
    return {};
}

// Checks the database, resets its numbers, and removes its mark.
Result<void> number_anew(const std::string& database) {
    if (size_of(database) > 0) {
        auto connection = open(database, Connection::Open::alone);
        if (!connection) return tl::unexpected(connection.error());
        if (auto whole = connection->check(false); !whole)
            return tl::unexpected(fmt::format("it {}: {}", whole.error().verdict(), whole.error().text));
        if (auto done = forget_numbers(*connection); !done) return done;
        // Copy the log into the file before removing the mark: until then the mark tells of the loss.
        if (auto done = connection->run("PRAGMA wal_checkpoint(TRUNCATE)"); !done) return done;
    }
    return remove(mark_path(database));
}

}  // namespace

Result<std::optional<Numbered>> numbered(Connection& connection) {
    const auto table = connection.integer(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'last_commit'");
    if (!table) return tl::unexpected(table.error());
    if (*table == 0) return std::nullopt;
    Statement row = connection.statement("SELECT number, position FROM last_commit");
    if (row.next()) return Numbered{row.integer(0), row.integer(1)};
    if (!row.ok()) return tl::unexpected(connection.error());
    return std::nullopt;
}

Result<std::optional<Loss>> find_loss(const std::string& database, std::string_view position_name) {
    // Read the mark first: if another process commits in between, the database's number is the higher one,
    // which is no loss.
    const auto mark = read_mark(database);
    const auto has = numbered_at(database);
    if (!has) return tl::unexpected(has.error());
    if (!mark || !*mark) {
        if (mark && has->value_or(Numbered{}).number == 0) return std::nullopt;
        return unmarked(has->value_or(Numbered{}), position_name,
                        mark ? mark_path(database) + " is gone" : mark.error());
    }
    const Numbered there = has->value_or(Numbered{});
    const bool behind = there.number < (*mark)->number;
    const WalExtent log = behind || (*mark)->unfinished ? extent_of_wal(database) : WalExtent{};
    const bool mixed = (*mark)->unfinished && log.commits == 0;
    if (!behind && !mixed) return std::nullopt;
    Loss loss;
    loss.mixed = (*mark)->unfinished;
    loss.has = there.position;
    loss.had = (*mark)->position;
    loss.without_log = log.commits > 0 && !(*mark)->unfinished && (*mark)->checkpointed > there.number;
    const std::int64_t kept = loss.without_log ? (*mark)->checkpointed : there.number;
    const std::string lost =
        kept == (*mark)->number
            ? std::string("would go back to an earlier state, though the database file has all")
        : !*has
            ? fmt::format("has lost all of its {} commits", (*mark)->number)
            : fmt::format("has lost the last {} of its {} commits", (*mark)->number - kept, (*mark)->number);
    loss.text = fmt::format(
        "{}: the database ends with commit {}{}, commit {}{} was acknowledged by {}, and {}{}", lost,
        there.number, reached(position_name, there.position), (*mark)->number,
        reached(position_name, (*mark)->position), date_of(mark_path(database)), log_text(database, log),
        loss.mixed ? "; a checkpoint was cut short, so that what is left may be a mixture "
                     "of two states"
                   : "");
    return loss;
}

Result<void> forget_numbers(Connection& connection) {
    const auto found = numbered(connection);
    if (!found) return tl::unexpected(found.error());
    // Keep the row: a check of the database can't find damage in a page without rows.
    return *found ? connection.run("UPDATE last_commit SET number = 0, position = 0") : Result<void>();
}

Result<void> accept_loss(const std::string& database, const Loss& loss, const std::string& aside) {
    for (const char* end : {"", "-wal", "-mark"})
        if (!copy(database + end, aside))
            return tl::unexpected(fmt::format("{}{} can not be copied to {}", database, end, aside));
    if (!sync(aside)) return tl::unexpected(fmt::format("{} can not be brought to the disk", aside));
    if (loss.without_log)
        // Remove the log last: an error here then leaves it in its place.
        for (const char* end : {"-shm", "-wal"})
            if (auto done = remove(database + end); !done) return done;
    const auto done = number_anew(database);
    if (!done && loss.without_log)
        return tl::unexpected(
            fmt::format("{}; its write-ahead log was removed, and a copy is in {}", done.error(), aside));
    return done;
}

}  // namespace pbs::sqlite
