#include "sqlite/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace pbs::sqlite {
namespace {

constexpr std::size_t kLongestQuote = 200;

Failure::About about(int extended_code) {
    switch (extended_code & 0xff) {
        case SQLITE_BUSY:
            return Failure::About::busy;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return Failure::About::damage;
        case SQLITE_FULL:
            return Failure::About::full_disk;
        default:
            return Failure::About::other;
    }
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (out.size() >= kLongestQuote) return out + "...";
        if (c >= ' ' && c < '\x7f') {
            out += c;
        } else {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

// ---- Statements.

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), at_(other.at_), code_(other.code_) {}

Statement::~Statement() {
    if (statement_ == nullptr) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

// Binds a value, unless a value before it couldn't be bound: a later success would erase the connection's
// text.
template <typename Bind>
Statement& Statement::bind_by(Bind&& bind) {
    if (code_ == SQLITE_OK) code_ = bind(at_);
    ++at_;
    return *this;
}

// Binds "" for an empty text, because SQLite would bind NULL for a null pointer.
Statement& Statement::bind(std::string_view text) {
    return bind_by([&](int at) {
        return sqlite3_bind_text64(statement_, at, text.empty() ? "" : text.data(), text.size(),
                                   SQLITE_TRANSIENT, SQLITE_UTF8);
    });
}

Statement& Statement::bind_blob(std::string_view bytes) {
    return bind_by([&](int at) {
        return sqlite3_bind_blob64(statement_, at, bytes.empty() ? "" : bytes.data(), bytes.size(),
                                   SQLITE_TRANSIENT);
    });
}

Statement& Statement::bind(std::int64_t number) {
    return bind_by([&](int at) { return sqlite3_bind_int64(statement_, at, number); });
}

Statement& Statement::bind(double number) {
    return bind_by([&](int at) { return sqlite3_bind_double(statement_, at, number); });
}

bool Statement::go_to(int position) {
    if (position > sqlite3_bind_parameter_count(statement_) ||
        sqlite3_bind_parameter_name(statement_, position) == nullptr)
        return false;
    at_ = position;
    return true;
}

bool Statement::next() {
    if (!ok()) return false;
    code_ = statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_);
    return code_ == SQLITE_ROW;
}

bool Statement::ok() const {
    return code_ == SQLITE_OK || code_ == SQLITE_ROW || code_ == SQLITE_DONE;
}

std::string_view Statement::text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return {bytes == nullptr ? "" : bytes,
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_, column);
}

// ---- Connections.

void Connection::Close::operator()(sqlite3* handle) const {
    sqlite3_close_v2(handle);
}

void Connection::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Result<Connection> Connection::open(const std::string& path, Open how) {
    int flags = SQLITE_OPEN_NOMUTEX;
    flags |= how == Open::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (how == Open::create) flags |= SQLITE_OPEN_CREATE;
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    Connection connection(handle);
    if (code != SQLITE_OK) return tl::unexpected(connection.error());
    sqlite3_extended_result_codes(handle, 1);
    if (how == Open::write) connection.leave_checkpoints();
    return connection;
}

void Connection::leave_checkpoints() {
    sqlite3_wal_autocheckpoint(get(), 0);
    sqlite3_db_config(get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Connection::wait_for_others(std::chrono::milliseconds time) {
    sqlite3_busy_timeout(get(), static_cast<int>(time.count()));
}

void Connection::end_when(const std::atomic<bool>& end) {
    constexpr int kSteps = 1000;  // of SQLite's virtual machine: some tenths of a millisecond
    // SQLite takes the pointer without const and returns it unchanged
    sqlite3_progress_handler(
        get(), kSteps,
        [](void* set) {
            return static_cast<const std::atomic<bool>*>(set)->load(std::memory_order_relaxed) ? 1 : 0;
        },
        const_cast<std::atomic<bool>*>(&end));
}

Statement Connection::statement(std::string_view sql) {
    auto found = statements_.find(sql);
    if (found == statements_.end()) {
        sqlite3_stmt* prepared = nullptr;
        if (sqlite3_prepare_v3(get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                               &prepared, nullptr) != SQLITE_OK)
            return Statement(nullptr);
        std::unique_ptr<sqlite3_stmt, Finalize> owned(prepared);
        found = statements_.try_emplace(std::string(sql), std::move(owned)).first;
    }
    return Statement(found->second.get());
}

Result<void> Connection::run(const std::string& sql) {
    if (sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return tl::unexpected(error());
    return {};
}

void Connection::roll_back() noexcept {
    (void)sqlite3_exec(get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<std::int64_t> Connection::integer(std::string_view sql) {
    Statement row = statement(sql);
    if (!row.next()) return tl::unexpected(error());
    return row.integer(0);
}

tl::expected<void, Failure> Connection::check(bool quick) {
    Statement row = statement(quick ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)");
    if (!row.next()) return tl::unexpected(failure());
    const std::string_view found = row.text(0);
    if (found == "ok") return {};
    return tl::unexpected(damage(found));
}

Result<void> Connection::copy_to(Connection& other, int pages) {
    sqlite3_backup* backup = sqlite3_backup_init(other.get(), "main", get(), "main");
    if (backup == nullptr) return tl::unexpected(other.error());
    int code = SQLITE_OK;
    while (code == SQLITE_OK) code = sqlite3_backup_step(backup, pages);
    sqlite3_backup_finish(backup);
    if (code != SQLITE_DONE) return tl::unexpected(other.error());
    return {};
}

std::optional<Failure> Connection::flush() {
    const int code = sqlite3_db_cacheflush(get());
    if (code == SQLITE_OK) return std::nullopt;
    return Failure{about(code), sqlite3_errstr(code)};
}

Failure Connection::failure() const {
    if (get() == nullptr) return {Failure::About::other, "out of memory"};
    const int code = sqlite3_errcode(get());
    // When SQLite writes a file beside the database, such as -shm, it reports a full disk as SQLITE_IOERR.
    const bool full = (code & 0xff) == SQLITE_IOERR && sqlite3_system_errno(get()) == ENOSPC;
    const Failure found{full ? Failure::About::full_disk : about(code), printable(sqlite3_errmsg(get()))};
    return found.about == Failure::About::damage ? damage(found.text) : found;
}

Failure Connection::damage(std::string_view text) const {
    const auto is_of_disk = [](int number) { return number == EIO || number == ENXIO || number == ERANGE; };
    int error = 0;
    sqlite3_file_control(get(), "main", SQLITE_FCNTL_LAST_ERRNO, &error);
    sqlite3_file* log = nullptr;
    if (!is_of_disk(error) &&
        sqlite3_file_control(get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log)) ==
            SQLITE_OK &&
        log != nullptr && log->pMethods != nullptr)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
    if (!is_of_disk(error)) return {Failure::About::damage, printable(text)};
    return {Failure::About::other, std::error_code(error, std::generic_category()).message()};
}

bool Connection::in_transaction() const {
    return sqlite3_get_autocommit(get()) == 0;
}

std::int64_t Connection::last_row_id() const {
    return sqlite3_last_insert_rowid(get());
}

std::int64_t Connection::changes() const {
    return sqlite3_total_changes64(get());
}

bool Connection::was_moved() const {
    int moved = 0;
    return sqlite3_file_control(get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

}  // namespace pbs::sqlite
