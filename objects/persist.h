// Writes objects as rows of the database, and reads them (upgrade.cc describes the tables).
#pragma once

#include <memory>
#include <span>

#include "objects/database.h"
#include "objects/draft.h"

namespace pbs::objects {

// Writes changed objects within the caller's transaction.
Result<void> write_changes(Database& database, std::span<const ObjectChange> changes);

// Reads the whole configuration. Errors: Code::system, for a row that this program can't have written.
Result<std::shared_ptr<const Snapshot>> read_configuration(Database& database);

}  // namespace pbs::objects
