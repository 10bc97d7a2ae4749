// Rows of the history table.
#ifndef PBSPOLICY_OBJECTS_HISTORY_H
#define PBSPOLICY_OBJECTS_HISTORY_H

#include <vector>

#include "objects/commands.h"
#include "objects/database.h"
#include "objects/snapshot.h"

namespace pbs::objects {

// {"by_queue":"False","batch_queues":["a","b"]}; null for no object.
std::string to_json(const Object* object);

Result<void> write_history(Database& database, const HistoryEntry& entry);
Result<std::vector<HistoryEntry>> read_history(Database& database, const HistoryQuery& query);
// The revision of the last row; 0 if there is none.
Result<std::uint64_t> last_revision(Database& database);

}  // namespace pbs::objects

#endif
