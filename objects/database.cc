#include "objects/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "sqlite/loss.h"
#include "sqlite/trusted.h"

namespace pbs::objects {
namespace {

// The longest wait of a request while another process (a backup, pbs_migrate) holds the file.
constexpr std::chrono::seconds kBusy{10};

// Creates the file, readable by the server's user alone: its history tells who changed what.
Result<void> create_private(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        const std::string why = std::error_code(errno, std::generic_category()).message();
        return fail(Code::system, fmt::format("can't open the policy database {}: {}", path, why));
    }
    ::close(file);
    return {};
}

Result<void> check_kept(const std::string& path) {
    const auto loss = sqlite::find_loss(path, "revision");
    // go on if the file can't be read: opening it reports that
    if (!loss || !*loss) return {};
    return fail(Code::system,
                fmt::format("the policy database {} {}. Restore a backup, or go on without what is lost: "
                            "pbs_server --accept-loss",
                            path, (*loss)->text));
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& path) {
    if (const auto wrong = sqlite::untrusted(path))
        return fail(Code::system, fmt::format("can't open the policy database: {}", *wrong));
    if (Result<void> kept = check_kept(path); !kept) return tl::unexpected(kept.error());
    if (Result<void> created = create_private(path); !created) return tl::unexpected(created.error());
    return open_again(path);
}

Result<std::unique_ptr<Database>> Database::open_again(const std::string& path) {
    auto connection = sqlite::Connection::open(path, sqlite::Connection::Open::write);
    if (!connection)
        return fail(Code::system,
                    fmt::format("can't open the policy database {}: {}", path, connection.error()));
    connection->wait_for_others(kBusy);
    std::unique_ptr<Database> database(new Database(path, std::move(*connection)));
    Result<void> set = database->run(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA "
        "trusted_schema = OFF;");
    if (!set) return tl::unexpected(set.error());
    return database;
}

Error Database::error(std::string_view doing) const {
    return error(doing, connection_.failure());
}

Error Database::error(std::string_view doing, const sqlite::Failure& failure) const {
    if (failure.about == sqlite::Failure::About::damage) return damage(failure.text);
    const bool full = failure.about == sqlite::Failure::About::full_disk;
    return Error{Code::system, fmt::format("can't {} the policy database {}: {}", doing, path_,
                                           full ? "the disk is full" : failure.text)};
}

Error Database::damage(std::string_view what) const {
    if (const auto failure = connection_.damage(what); failure.about != sqlite::Failure::About::damage)
        return error("read", failure);
    return Error{
        Code::system,
        fmt::format(
            "the policy database {} is damaged ({}): restore a backup of it, or move it and its -wal, -shm "
            "and -mark files away to start with a new one",
            path_, sqlite::printable(what))};
}

Result<void> Database::guard() {
    auto guard = sqlite::Guard::begin(connection_, path_);
    if (!guard) return fail(Code::system, guard.error());
    guard_ = std::move(*guard);
    return {};
}

void Database::reached(std::uint64_t revision) {
    if (guard_) guard_->reached(static_cast<std::int64_t>(revision));
}

// Syncs SQLite's log to the disk before the commit. Otherwise the commit syncs it, and takes long if the log
// is long.
Result<void> Database::flush() {
    if (const auto failed = connection_.flush()) return tl::unexpected(error("write", *failed));
    const int log = ::open((path_ + "-wal").c_str(), O_RDWR | O_CLOEXEC);
    if (log < 0) return {};  // there is no log: nothing was written
    const bool done = ::fdatasync(log) == 0;
    const std::string why = std::error_code(errno, std::generic_category()).message();
    ::close(log);
    if (done) return {};
    return fail(Code::system, fmt::format("can't write the policy database {}: {}", path_, why));
}

void Database::end_when(const std::atomic<bool>& end) {
    connection_.end_when(end);
}

void Database::follow(const Database& other) {
    if (guard_ && other.guard_) guard_->follow(*other.guard_);
}

Result<void> Database::in_transaction(const std::function<Result<void>()>& work) {
    if (connection_.in_transaction()) return work();
    Result<Transaction> transaction = Transaction::begin(*this);
    if (!transaction) return tl::unexpected(transaction.error());
    if (Result<void> done = work(); !done) return done;
    return transaction->commit();
}

Statement Database::statement(std::string_view sql) {
    return {*this, connection_.statement(sql)};
}

Result<void> Database::run(const std::string& sql) {
    if (connection_.run(sql)) return {};
    return tl::unexpected(error("use"));
}

std::int64_t Database::last_row_id() const {
    return connection_.last_row_id();
}

Result<bool> Statement::step() {
    if (next()) return true;
    if (ok()) return false;
    return tl::unexpected(database_->error("use"));
}

Result<void> Statement::run() {
    const Result<bool> stepped = step();
    if (!stepped) return tl::unexpected(stepped.error());
    return {};
}

Result<Transaction> Transaction::begin(Database& database) {
    if (database.guard_) {
        if (const auto ready = database.guard_->before_transaction(); !ready)
            return fail(Code::system, ready.error());
    }
    Result<void> begun = database.statement("BEGIN IMMEDIATE").run();
    if (!begun) return tl::unexpected(begun.error());
    return Transaction(database);
}

Result<void> Transaction::commit() {
    return commit(sqlite::Guard::Checkpoint::now);
}
Result<void> Transaction::commit_quickly() {
    return commit(sqlite::Guard::Checkpoint::later);
}

Result<void> Transaction::commit(sqlite::Guard::Checkpoint checkpoint) {
    if (!database_->guard_) {
        Result<void> committed = database_->statement("COMMIT").run();
        if (committed) database_ = nullptr;
        return committed;
    }
    if (!database_->guard_->commit(checkpoint)) return tl::unexpected(database_->error("use"));
    database_ = nullptr;
    return {};
}

Transaction::~Transaction() {
    // A failed statement, for instance with a full disk, may have ended the transaction. ROLLBACK then fails
    // without harm.
    if (!database_) return;
    database_->connection_.roll_back();
    if (!database_->guard_) return;
    // A lack of memory, which may be why this transaction ends, must not end the process.
    try {
        database_->guard_->rolled_back();
    } catch (const std::bad_alloc&) {
        return;
    }
}

}  // namespace pbs::objects
