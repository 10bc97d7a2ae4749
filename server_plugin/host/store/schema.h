// The tables of server.db, and the steps that upgrade a database of an earlier version.
#pragma once

#include <span>
#include <string>

#include "server_plugin/host/base/error.h"
#include "sqlite/connection.h"

namespace pbs::host {

// Steps as SQL: step n upgrades a database of version n to version n + 1. After the first release, steps are
// only added at the end, and never changed.
using SchemaSteps = std::span<const char* const>;

// Returns the steps that lead to the tables of this version of the server.
SchemaSteps server_schema();

// Upgrades the database of the file at `path` to the version (PRAGMA user_version) after the last step, with
// a transaction for each step. PBSE_SYSTEM, with the path: the database's version is newer, or SQLite failed.
Result<void> upgrade(sqlite::Connection& db, const std::string& path, SchemaSteps steps);

}  // namespace pbs::host
