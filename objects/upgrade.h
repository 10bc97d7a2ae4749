// Brings the database file to the newest version, by a step from each version to the next.
#pragma once

#include <span>

#include "objects/database.h"

namespace pbs::objects {

// SQL that makes version 1 of an empty file, version 2 of version 1, and so on. The number of steps is the
// newest version (PRAGMA user_version).
using Steps = std::span<const char* const>;

// Returns the steps to the version that this code reads and writes.
Steps schema();

// Brings a file up to the newest version in one transaction. An empty file has version 0. Errors: system: the
// file is of a later version, belongs to another program, or can't be written.
Result<void> upgrade(Database& database, Steps steps);

}  // namespace pbs::objects
