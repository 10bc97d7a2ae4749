// Objects to rows and back (the tables are described in upgrade.cc).
#pragma once

#include <memory>
#include <span>

#include "objects/database.h"
#include "objects/draft.h"

namespace pbs::objects {

// Writes changed objects, within a transaction of the caller's.
Result<void> write_changes(Database& database, std::span<const ObjectChange> changes);

// Reads the whole configuration. Errors: system, if a row makes no sense: the file was changed by other
// hands.
Result<std::shared_ptr<const Snapshot>> read_configuration(Database& database);

}  // namespace pbs::objects
