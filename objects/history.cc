#include "objects/history.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace pbs::objects {

std::string to_json(const Object* object) {
    if (!object) return "null";
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [index, value] : object->values()) {
        const Attribute& attribute = attributes(object->type())[index];
        nlohmann::ordered_json& member = json[std::string(attribute.name)];
        if (attribute.is_list()) {
            member = format_items(attribute, value);
        } else {
            member = format_value(attribute, value);
        }
    }
    // Values are bytes; what isn't UTF-8 is replaced rather than refused.
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<void> write_history(Database& database, const HistoryEntry& entry) {
    return database
        .statement(
            "INSERT INTO history (revision, at, user, host, command, type, name, before, after)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(static_cast<std::int64_t>(entry.revision))
        .bind(std::int64_t{entry.at.time_since_epoch().count()})
        .bind(entry.user)
        .bind(entry.host)
        .bind(entry.command)
        .bind(type_name(entry.type))
        .bind(entry.object)
        .bind(entry.before)
        .bind(entry.after)
        .run();
}

Result<std::vector<HistoryEntry>> read_history(Database& database, const HistoryQuery& query) {
    constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
    Statement rows = database.statement(
        "SELECT revision, at, user, host, command, type, name, before, after FROM history"
        " WHERE (?1 = '' OR type = ?1) AND (?2 = 0 OR name = ?3) AND at >= ?4 AND at < ?5"
        " ORDER BY revision DESC LIMIT ?6");
    rows.bind(query.type ? type_name(*query.type) : std::string_view{})
        .bind(std::int64_t{query.object.has_value()})
        .bind(query.object.value_or(""))
        .bind(query.from ? query.from->time_since_epoch().count() : kEarliest)
        .bind(query.until ? query.until->time_since_epoch().count() : kLatest)
        .bind(static_cast<std::int64_t>(
            std::min<std::size_t>(query.limit, std::numeric_limits<std::int32_t>::max())));
    std::vector<HistoryEntry> entries;
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) {
        HistoryEntry& entry = entries.emplace_back();
        entry.revision = static_cast<std::uint64_t>(rows.integer(0));
        entry.at = std::chrono::sys_seconds(std::chrono::seconds(rows.integer(1)));
        entry.user = rows.text(2);
        entry.host = rows.text(3);
        entry.command = rows.text(4);
        entry.type = type_from_word(rows.text(5)).value_or(ObjectType::server);
        entry.object = rows.text(6);
        entry.before = rows.text(7);
        entry.after = rows.text(8);
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

}  // namespace pbs::objects
