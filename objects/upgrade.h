// The versions of the database file and the steps from each to the next.
#pragma once

#include <span>

#include "objects/database.h"

namespace pbs::objects {

// SQL that makes version 1 of an empty file, version 2 of version 1, and so on. The number of steps is the
// newest version (PRAGMA user_version).
using Steps = std::span<const char* const>;

// The steps to the version that this code reads and writes.
Steps schema();

// Brings a file (an empty one is version 0) up to the newest version, in one transaction. Errors: system: the
// file is of a later version, belongs to another program, or can't be written.
Result<void> upgrade(Database& database, Steps steps);

}  // namespace pbs::objects
