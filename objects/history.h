// Writes and reads the rows of the history table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objects/commands.h"
#include "objects/database.h"
#include "objects/snapshot.h"

namespace pbs::objects {

Result<void> write_history(Database& database, const HistoryEntry& entry);
Result<std::vector<HistoryEntry>> read_history(Database& database, const HistoryQuery& query);
// Returns the SQL of a query. The SQL has those of these parameters that the query needs: ?1 type, ?2 object,
// ?3 from, ?4 until, ?5 the revision before which to begin, ?6 limit.
std::string history_sql(const HistoryQuery& query);
// Returns the revision of the last row; 0 if there are no rows.
Result<std::uint64_t> last_revision(Database& database);

// While a change of several rows is made, its revisions except the last one are never in force. For such a
// revision, returns the last revision before the change, and the revision that has the whole change. nullopt
// for all other revisions.
Result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> amid_change(Database& database,
                                                                           std::uint64_t revision);

// The same as amid_change(), for one object. A change has at most two rows of an object: one for the
// attributes that the server keeps and one for those in the store (HistoryEntry::of_host).
Result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> amid_change_of(Database& database,
                                                                              std::uint64_t revision,
                                                                              ObjectType type,
                                                                              std::string_view name);

// An object as it was at a revision; `object` is empty if it didn't exist.
struct PastObject {
    ObjectType type;
    std::string name;
    std::optional<Object> object;
};
// Returns all objects that have changed since a revision, as they were at it. The cost grows with the number
// of changes since then. Errors: system, for a row that can't be read.
Result<std::vector<PastObject>> objects_at(Database& database, std::uint64_t revision);
// Returns one object as it was at a revision; nullopt if it hasn't changed since. Costs one index lookup.
Result<std::optional<PastObject>> object_at(Database& database, std::uint64_t revision, ObjectType type,
                                            std::string_view name);

// Returns the last row about the attributes that the server keeps, for each object with such rows.
Result<std::vector<HistoryEntry>> last_host_rows(Database& database);
// Returns each object whose attributes that the server keeps changed in these revisions, with these
// attributes as they were before the first change. The cost grows with the number of revisions.
Result<std::vector<HostObject>> host_objects_between(Database& database, std::uint64_t first,
                                                     std::uint64_t last);

}  // namespace pbs::objects
