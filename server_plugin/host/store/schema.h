// The tables of server.db, and how a database of an earlier version comes to have them.
#pragma once

#include <span>
#include <string>

#include "server_plugin/host/base/error.h"
#include "sqlite/connection.h"

namespace pbs::host {

// Step n, as SQL, brings a database of version n to version n + 1. Once there has been a release, steps are
// only added, at the end.
using SchemaSteps = std::span<const char* const>;

// The steps to the tables of this server.
SchemaSteps server_schema();

// Brings the database of the file at `path` to the version (PRAGMA user_version) that the last step makes, a
// transaction a step. PBSE_SYSTEM, with the path: its version is newer, or SQLite's message.
Result<void> upgrade(sqlite::Connection& db, const std::string& path, SchemaSteps steps);

}  // namespace pbs::host
