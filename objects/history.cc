#include "objects/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "objects/config_json.h"

namespace pbs::objects {
namespace {

constexpr std::string_view kHostPart = "host";
constexpr std::string_view kColumns =
    "revision, change, at, user, host, command, type, name, before, after, part";

HistoryEntry entry_of(const Statement& row) {
    HistoryEntry entry;
    entry.revision = static_cast<std::uint64_t>(row.integer(0));
    entry.change = static_cast<std::uint64_t>(row.integer(1));
    entry.at = std::chrono::sys_seconds(std::chrono::seconds(row.integer(2)));
    entry.user = row.text(3);
    entry.host = row.text(4);
    entry.command = row.text(5);
    entry.type = type_from_word(row.text(6)).value_or(ObjectType::server);
    entry.object = row.text(7);
    entry.before = row.text(8);
    entry.after = row.text(9);
    entry.of_host = row.text(10) == kHostPart;
    return entry;
}

std::size_t size_of(const HistoryEntry& entry) {
    return entry.command.size() + entry.before.size() + entry.after.size();
}

// Calls `make` with each row of a statement and returns the results.
template <class Make>
auto collect(Statement rows, Make make) -> Result<std::vector<typename decltype(make(rows))::value_type>> {
    std::vector<typename decltype(make(rows))::value_type> all;
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) {
        auto made = make(rows);
        if (!made) return tl::unexpected(made.error());
        all.push_back(std::move(*made));
    }
    if (!row) return tl::unexpected(row.error());
    return all;
}

// Makes the past object of a row with the columns revision, type, name, before.
Result<PastObject> past_object(const Database& database, const Statement& row) {
    const std::string word = row.text(1);
    const std::optional<ObjectType> type = type_from_word(word);
    Result<std::optional<Object>> object = fail(Code::system, "there is no such type");
    if (type) object = from_json(*type, row.text(2), row.text(3));
    if (!object) {
        return tl::unexpected(database.damage(fmt::format("history, revision {}, {} {}: {}", row.integer(0),
                                                          word, row.text(2), object.error().message)));
    }
    return PastObject{*type, row.text(2), std::move(*object)};
}

}  // namespace

// Returns the SQL of a query, which gives the latest row first. The conditions decide which index SQLite
// reads: that of objects, of types, of revisions or, if the query bounds the time, of times. Times need an
// index of their own, because the order of revisions isn't that of times if the clock was set back. A plus
// before a column keeps SQLite from using that column's index.
std::string history_sql(const HistoryQuery& query) {
    const bool by_time = query.from || query.until;
    std::string sql = fmt::format("SELECT {} FROM history WHERE 1", kColumns);
    if (query.type) sql += by_time && !query.object ? " AND +type = ?1" : " AND type = ?1";
    if (query.object) sql += " AND name = ?2";
    if (!by_time) return sql + " AND revision < ?5 ORDER BY revision DESC LIMIT ?6";
    sql += query.object ? " AND +at >= ?3 AND +at < ?4" : " AND at >= ?3 AND at < ?4";
    return sql +
           " AND (at, revision) < (coalesce((SELECT at FROM history WHERE revision = ?5), "
           "9223372036854775807),"
           " ?5) ORDER BY at DESC, revision DESC LIMIT ?6";
}

Result<void> write_history(Database& database, const HistoryEntry& entry) {
    return database
        .statement(
            "INSERT INTO history (revision, change, at, user, host, command, type, name, before, after, part)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(static_cast<std::int64_t>(entry.revision))
        .bind(static_cast<std::int64_t>(entry.change == 0 ? entry.revision : entry.change))
        .bind(std::int64_t{entry.at.time_since_epoch().count()})
        .bind(entry.user)
        .bind(entry.host)
        .bind(entry.command)
        .bind(type_name(entry.type))
        .bind(entry.object)
        .bind(entry.before)
        .bind(entry.after)
        .bind(entry.of_host ? kHostPart : std::string_view{})
        .run();
}

Result<std::vector<HistoryEntry>> read_history(Database& database, const HistoryQuery& query) {
    constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t before = query.before_revision.value_or(kLatest);
    Statement rows = database.statement(history_sql(query));
    rows.bind_at(1, query.type ? type_name(*query.type) : std::string_view{})
        .bind_at(2, query.object.value_or(""))
        .bind_at(3, query.from ? query.from->time_since_epoch().count() : kEarliest)
        .bind_at(4, query.until ? query.until->time_since_epoch().count() : kLatest)
        .bind_at(5, static_cast<std::int64_t>(std::min<std::uint64_t>(before, kLatest)))
        .bind_at(6, static_cast<std::int64_t>(
                        std::min<std::size_t>(query.limit, std::numeric_limits<std::int32_t>::max())));
    std::vector<HistoryEntry> entries;
    std::size_t bytes = 0;
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) {
        HistoryEntry entry = entry_of(rows);
        bytes += size_of(entry);
        if (bytes > query.bytes && !entries.empty()) break;
        entries.push_back(std::move(entry));
    }
    if (!row) return tl::unexpected(row.error());
    std::ranges::reverse(entries);
    return entries;
}

Result<std::uint64_t> last_revision(Database& database) {
    Statement row = database.statement("SELECT coalesce(max(revision), 0) FROM history");
    const Result<bool> found = row.step();
    if (!found) return tl::unexpected(found.error());
    return static_cast<std::uint64_t>(row.integer(0));
}

Result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> amid_change(Database& database,
                                                                           std::uint64_t revision) {
    Statement next = database.statement("SELECT change FROM history WHERE revision = ? + 1");
    const Result<bool> found = next.bind(static_cast<std::int64_t>(revision)).step();
    if (!found) return tl::unexpected(found.error());
    if (!*found || next.integer(0) > static_cast<std::int64_t>(revision)) return std::nullopt;
    const std::int64_t change = next.integer(0);
    Statement last = database.statement(
        "SELECT coalesce((SELECT revision FROM history WHERE revision > ?1 AND change <> ?2"
        " ORDER BY revision LIMIT 1) - 1, (SELECT max(revision) FROM history))");
    const Result<bool> ended = last.bind(static_cast<std::int64_t>(revision)).bind(change).step();
    if (!ended) return tl::unexpected(ended.error());
    return std::pair(static_cast<std::uint64_t>(change) - 1, static_cast<std::uint64_t>(last.integer(0)));
}

Result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> amid_change_of(Database& database,
                                                                              std::uint64_t revision,
                                                                              ObjectType type,
                                                                              std::string_view name) {
    // Get the object's last row up to the revision, and its first row after it.
    Statement rows = database.statement(
        "SELECT change FROM history WHERE revision IN"
        " ((SELECT max(revision) FROM history WHERE type = ?1 AND name = ?2 AND revision <= ?3),"
        " (SELECT min(revision) FROM history WHERE type = ?1 AND name = ?2 AND revision > ?3))"
        " ORDER BY revision");
    rows.bind_at(1, type_name(type)).bind_at(2, name).bind_at(3, static_cast<std::int64_t>(revision));
    const auto changes =
        collect(std::move(rows), [](const Statement& row) -> Result<std::int64_t> { return row.integer(0); });
    if (!changes) return tl::unexpected(changes.error());
    if (changes->size() != 2 || changes->front() != changes->back()) return std::nullopt;
    return amid_change(database, revision);
}

Result<std::vector<PastObject>> objects_at(Database& database, std::uint64_t revision) {
    // an object's first change after the revision has the object as it was at the revision
    Statement rows = database.statement(
        "SELECT revision, type, name, before FROM history WHERE revision IN"
        " (SELECT min(revision) FROM history WHERE revision > ? AND part = '' GROUP BY type, name)"
        " ORDER BY type, name");
    rows.bind(static_cast<std::int64_t>(revision));
    return collect(std::move(rows), [&](const Statement& row) { return past_object(database, row); });
}

Result<std::optional<PastObject>> object_at(Database& database, std::uint64_t revision, ObjectType type,
                                            std::string_view name) {
    Statement row = database.statement(
        "SELECT revision, type, name, before FROM history WHERE type = ? AND name = ? AND revision > ?"
        " AND part = '' ORDER BY revision LIMIT 1");
    const Result<bool> found =
        row.bind(type_name(type)).bind(name).bind(static_cast<std::int64_t>(revision)).step();
    if (!found) return tl::unexpected(found.error());
    if (!*found) return std::nullopt;
    Result<PastObject> object = past_object(database, row);
    if (!object) return tl::unexpected(object.error());
    return std::move(*object);
}

Result<std::vector<HistoryEntry>> last_host_rows(Database& database) {
    Statement rows = database.statement(
        fmt::format("SELECT {} FROM history WHERE revision IN"
                    " (SELECT max(revision) FROM history WHERE part = 'host' GROUP BY type, name)",
                    kColumns));
    return collect(std::move(rows),
                   [](const Statement& row) -> Result<HistoryEntry> { return entry_of(row); });
}

Result<std::vector<HostObject>> host_objects_between(Database& database, std::uint64_t first,
                                                     std::uint64_t last) {
    Statement rows = database.statement(
        "SELECT type, name, before FROM history WHERE revision BETWEEN ? AND ? AND part = 'host'"
        " ORDER BY revision");
    rows.bind(static_cast<std::int64_t>(first)).bind(static_cast<std::int64_t>(last));
    std::set<std::pair<ObjectType, std::string>> seen;
    std::vector<HostObject> objects;
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) {
        const std::optional<ObjectType> type = type_from_word(rows.text(0));
        if (!type)
            return tl::unexpected(database.damage(fmt::format("history: there is no type {}", rows.text(0))));
        if (seen.emplace(*type, rows.text(1)).second) objects.push_back({*type, rows.text(1), rows.text(2)});
    }
    if (!row) return tl::unexpected(row.error());
    return objects;
}

}  // namespace pbs::objects
