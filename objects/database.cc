#include "objects/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "sqlite/loss.h"
#include "sqlite/trusted.h"

namespace pbs::objects {
namespace {

// How long a request waits for another process that has the file (a backup, pbs_migrate) to be done.
constexpr int kBusyMilliseconds = 10'000;

// The file holds who may do what to the schedulers: nobody but the server's user reads it.
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
    // What is wrong with a file that can't be read is told when it is opened.
    if (!loss || !*loss) return {};
    return fail(Code::system,
                fmt::format("the policy database {} {}. Restore a backup, or go on without what is lost: "
                            "pbs_server --accept-loss",
                            path, (*loss)->text));
}

}  // namespace

Database::Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

Result<std::unique_ptr<Database>> Database::open(const std::string& path) {
    if (const auto wrong = sqlite::untrusted(path))
        return fail(Code::system, fmt::format("can't open the policy database: {}", *wrong));
    if (Result<void> kept = check_kept(path); !kept) return tl::unexpected(kept.error());
    if (Result<void> created = create_private(path); !created) return tl::unexpected(created.error());
    return open_again(path);
}

Result<std::unique_ptr<Database>> Database::open_again(const std::string& path) {
    sqlite3* handle = nullptr;
    const int code =
        sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    std::unique_ptr<Database> database(new Database(path, handle));
    if (code != SQLITE_OK) return tl::unexpected(database->error("open"));
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, kBusyMilliseconds);
    sqlite::Guard::leave_checkpoints(handle);
    Result<void> set = database->run(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA "
        "trusted_schema = OFF;");
    if (!set) return tl::unexpected(set.error());
    return database;
}

Database::~Database() {
    guard_.reset();
    for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(handle_);
}

Error Database::error(std::string_view doing) const {
    return handle_ ? error(doing, sqlite3_errcode(handle_), sqlite3_errmsg(handle_))
                   : error(doing, SQLITE_NOMEM, "out of memory");
}

Error Database::error(std::string_view doing, int extended_code, const char* what) const {
    const int code = extended_code & 0xff;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return damage(what);
    if (code == SQLITE_FULL) what = "the disk is full";
    return Error{Code::system,
                 fmt::format("can't {} the policy database {}: {}", doing, path_, sqlite::printable(what))};
}

Error Database::damage(std::string_view what) const {
    return Error{
        Code::system,
        fmt::format(
            "the policy database {} is damaged ({}): restore a backup of it, or move it and its -wal, -shm "
            "and -mark files away to start with a new one",
            path_, sqlite::printable(what))};
}

Result<void> Database::guard() {
    auto guard = sqlite::Guard::begin(handle_, path_);
    if (!guard) return fail(Code::system, guard.error());
    guard_ = std::move(*guard);
    return {};
}

void Database::reached(std::uint64_t revision) {
    if (guard_) guard_->reached(static_cast<std::int64_t>(revision));
}

// SQLite brings the log to the disk at a commit, which would take as long as there is much of it.
Result<void> Database::flush() {
    if (const int code = sqlite3_db_cacheflush(handle_); code != SQLITE_OK)
        return tl::unexpected(error("write", code, sqlite3_errstr(code)));  // the connection doesn't keep it
    const int log = ::open((path_ + "-wal").c_str(), O_RDWR | O_CLOEXEC);
    if (log < 0) return {};  // nothing has been written
    const bool done = ::fdatasync(log) == 0;
    const std::string why = std::error_code(errno, std::generic_category()).message();
    ::close(log);
    if (done) return {};
    return fail(Code::system, fmt::format("can't write the policy database {}: {}", path_, why));
}

void Database::end_when(const std::atomic<bool>& end) {
    constexpr int kSteps = 1000;  // of SQLite's machine, some tenths of a millisecond
    // SQLite wants it without const, and gives it back.
    sqlite3_progress_handler(
        handle_, kSteps,
        [](void* set) {
            return static_cast<const std::atomic<bool>*>(set)->load(std::memory_order_relaxed) ? 1 : 0;
        },
        const_cast<std::atomic<bool>*>(&end));
}

void Database::follow(const Database& other) {
    if (guard_ && other.guard_) guard_->follow(*other.guard_);
}

Result<void> Database::in_transaction(const std::function<Result<void>()>& work) {
    if (sqlite3_get_autocommit(handle_) == 0) return work();
    Result<Transaction> transaction = Transaction::begin(*this);
    if (!transaction) return tl::unexpected(transaction.error());
    if (Result<void> done = work(); !done) return done;
    return transaction->commit();
}

Statement Database::statement(std::string_view sql) {
    auto found = statements_.find(sql);
    if (found == statements_.end()) {
        sqlite3_stmt* prepared = nullptr;
        const int length = static_cast<int>(sql.size());
        if (sqlite3_prepare_v3(handle_, sql.data(), length, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr) !=
            SQLITE_OK) {
            return {*this, nullptr};
        }
        found = statements_.emplace(std::string(sql), prepared).first;
    }
    return {*this, found->second};
}

Result<void> Database::run(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return tl::unexpected(error("use"));
}

std::int64_t Database::last_row_id() const {
    return sqlite3_last_insert_rowid(handle_);
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(other.statement_), next_(other.next_), bound_(other.bound_) {
    other.statement_ = nullptr;
}

Statement::~Statement() {
    if (!statement_) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

Statement& Statement::bind(std::string_view text) {
    const char* data = text.empty() ? "" : text.data();
    bound_ = bound_ && sqlite3_bind_text64(statement_, next_++, data, text.size(), SQLITE_TRANSIENT,
                                           SQLITE_UTF8) == SQLITE_OK;
    return *this;
}

Statement& Statement::bind(std::int64_t number) {
    bound_ = bound_ && sqlite3_bind_int64(statement_, next_++, number) == SQLITE_OK;
    return *this;
}

Statement& Statement::bind(double number) {
    bound_ = bound_ && sqlite3_bind_double(statement_, next_++, number) == SQLITE_OK;
    return *this;
}

bool Statement::has(int position) const {
    return position <= sqlite3_bind_parameter_count(statement_) &&
           sqlite3_bind_parameter_name(statement_, position) != nullptr;
}

Statement& Statement::bind_at(int position, std::string_view text) {
    if (!has(position)) return *this;
    next_ = position;
    return bind(text);
}

Statement& Statement::bind_at(int position, std::int64_t number) {
    if (!has(position)) return *this;
    next_ = position;
    return bind(number);
}

Result<bool> Statement::step() {
    if (statement_ && bound_) {
        const int code = sqlite3_step(statement_);
        if (code == SQLITE_ROW) return true;
        if (code == SQLITE_DONE) return false;
    }
    return tl::unexpected(database_->error("use"));
}

Result<void> Statement::run() {
    const Result<bool> stepped = step();
    if (!stepped) return tl::unexpected(stepped.error());
    return {};
}

std::string Statement::text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return data ? std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
                : std::string{};
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_, column);
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
    if (database_->guard_->commit(checkpoint) != SQLITE_OK) return tl::unexpected(database_->error("use"));
    database_ = nullptr;
    return {};
}

Transaction::~Transaction() {
    // A failed statement may have ended the transaction already (a full disk): then this fails, harmlessly.
    if (database_) (void)database_->statement("ROLLBACK").run();
}

}  // namespace pbs::objects
