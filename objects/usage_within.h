// Reads and writes usage as a part of a larger transaction, such as a migration.
#pragma once

#include <string_view>

#include "objects/error.h"
#include "objects/usage_store.h"

namespace pbs::objects {

// Returns whether there is no usage in the scope.
Result<bool> usage_is_empty(Database& database, std::string_view scope);
// The same as UsageStore::write(), within a transaction that has begun.
Result<void> write_usage_within(Database& database, std::string_view scope, const UsageBatch& batch);

}  // namespace pbs::objects
