#include "server_plugin/host/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "ifl/pbs_error.h"
#include "sqlite/guard.h"
#include "sqlite/loss.h"

namespace pbs::host {
namespace {

struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

tl::unexpected<Error> failed(sqlite3* connection) {
    return fail(PBSE_SYSTEM,
                sqlite::printable(connection == nullptr ? "out of memory" : sqlite3_errmsg(connection)));
}

Result<Prepared> prepare(sqlite3* connection, const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(connection, sql, -1, &statement, nullptr) != SQLITE_OK) return failed(connection);
    return Prepared(statement);
}

}  // namespace

void SqliteClose::operator()(sqlite3* connection) const {
    sqlite3_close(connection);
}

Result<Sqlite> open_sqlite(const std::string& path, SqliteOpen how) {
    int flags = SQLITE_OPEN_NOMUTEX;
    flags |= how == SqliteOpen::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (how == SqliteOpen::create) flags |= SQLITE_OPEN_CREATE;
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
    Sqlite connection(raw);
    if (code != SQLITE_OK)
        return fail(PBSE_SYSTEM, fmt::format("can not open {}: {}", path, failed(raw).value().message));
    sqlite3_extended_result_codes(raw, 1);
    // Only who keeps the database's mark moves its log into it (sqlite/guard.h).
    if (how == SqliteOpen::write) sqlite::Guard::leave_checkpoints(raw);
    return connection;
}

Result<void> run_sql(sqlite3* connection, const char* sql) {
    if (sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failed(connection);
    return {};
}

Result<int64_t> integer_of(sqlite3* connection, const char* sql) {
    auto statement = prepare(connection, sql);
    if (!statement) return tl::unexpected(statement.error());
    if (sqlite3_step(statement->get()) != SQLITE_ROW) return failed(connection);
    return sqlite3_column_int64(statement->get(), 0);
}

Result<void> check_content(sqlite3* connection, bool quick) {
    auto statement = prepare(connection, quick ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)");
    if (!statement) return tl::unexpected(statement.error());
    if (sqlite3_step(statement->get()) != SQLITE_ROW) return failed(connection);
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement->get(), 0));
    if (text == nullptr) return failed(connection);
    if (std::string_view(text) != "ok") return fail(PBSE_SYSTEM, sqlite::printable(text));
    return {};
}

}  // namespace pbs::host
