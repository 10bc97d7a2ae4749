// The versions of the database file and the steps from each to the next.
#pragma once

#include "objects/database.h"

namespace pbs::objects {

// The version that this code reads and writes (PRAGMA user_version).
int current_version();

// Upgrades a file (an empty one is version 0) to `version`, in one transaction. Errors: system: the file is
// of a later version, belongs to another program, or can't be written.
Result<void> upgrade(Database& database, int version);

}  // namespace pbs::objects
