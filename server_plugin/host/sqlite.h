// SQLite connections for looking at and copying whole database files.
#ifndef PBSPOLICY_HOST_SQLITE_H
#define PBSPOLICY_HOST_SQLITE_H

#include <cstdint>
#include <memory>
#include <string>

#include "server_plugin/host/error.h"

struct sqlite3;

namespace pbs::host {

struct SqliteClose {
    void operator()(sqlite3* connection) const;
};
using Sqlite = std::unique_ptr<sqlite3, SqliteClose>;

// read, write: a database of a server's, whose log is left as it is when this is the last one to close it;
// create: one's own.
enum class SqliteOpen { read, write, create };

// Opens the file. Errors name it.
Result<Sqlite> open_sqlite(const std::string& path, SqliteOpen how);

// Runs statements; the error is SQLite's text.
Result<void> run_sql(sqlite3* connection, const char* sql);
// The first column of the first row; the error is SQLite's text, or that there is no row.
Result<int64_t> integer_of(sqlite3* connection, const char* sql);

// PRAGMA integrity_check, or the quicker quick_check, which doesn't compare indexes with tables. The error is
// what they found first.
Result<void> check_content(sqlite3* connection, bool quick);

}  // namespace pbs::host

#endif
