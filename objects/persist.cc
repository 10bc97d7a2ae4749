#include "objects/persist.h"

#include <fmt/format.h>

#include <algorithm>

#include "objects/history.h"

namespace pbs::objects {
namespace {

Result<std::optional<std::int64_t>> object_id(Database& database, ObjectType type, std::string_view name) {
    Statement row = database.statement("SELECT id FROM object WHERE type = ? AND name = ?");
    row.bind(type_name(type)).bind(name);
    const Result<bool> found = row.step();
    if (!found) return tl::unexpected(found.error());
    return *found ? std::optional(row.integer(0)) : std::nullopt;
}

Result<std::int64_t> insert_object(Database& database, ObjectType type, std::string_view name) {
    const Result<void> inserted = database.statement("INSERT INTO object (type, name) VALUES (?, ?)")
                                      .bind(type_name(type))
                                      .bind(name)
                                      .run();
    if (!inserted) return tl::unexpected(inserted.error());
    return database.last_row_id();
}

Result<void> delete_rows(Database& database, std::int64_t id, const Attribute& attribute) {
    Result<void> done = database.statement("DELETE FROM attribute WHERE object = ? AND name = ?")
                            .bind(id)
                            .bind(attribute.name)
                            .run();
    if (!done || !attribute.refers_to) return done;
    return database.statement("DELETE FROM reference WHERE object = ? AND attribute = ?")
        .bind(id)
        .bind(attribute.name)
        .run();
}

// Replaces the rows of the attribute's value `before` by rows of `value`. Null: the attribute isn't set.
Result<void> write_attribute(Database& database, std::int64_t id, const Attribute& attribute,
                             const Value* before, const Value* value) {
    if (before) {
        if (Result<void> done = delete_rows(database, id, attribute); !done) return done;
    }
    if (!value) return {};
    std::int64_t position = 0;
    for (const std::string& item : format_items(attribute, *value)) {
        Result<void> done =
            database.statement("INSERT INTO attribute (object, name, position, value) VALUES (?, ?, ?, ?)")
                .bind(id)
                .bind(attribute.name)
                .bind(position++)
                .bind(item)
                .run();
        if (!done) return done;
    }
    return {};
}

// Writes rows for the objects to which an attribute refers. The prefix p: or np: of a sched's policy isn't
// written.
Result<void> write_references(Database& database, std::int64_t id, const Attribute& attribute,
                              const Value& value) {
    std::int64_t position = 0;
    for (std::string_view item : format_items(attribute, value)) {
        if (attribute.syntax == Syntax::policy_slots) item.remove_prefix(item.find(':') + 1);
        const auto target = object_id(database, *attribute.refers_to, item);
        if (!target) return tl::unexpected(target.error());
        if (!*target)
            return fail(Code::internal,
                        fmt::format("{} names '{}', which isn't stored", attribute.name, item));
        Result<void> done =
            database
                .statement("INSERT INTO reference (object, attribute, position, target) VALUES (?, ?, ?, ?)")
                .bind(id)
                .bind(attribute.name)
                .bind(position++)
                .bind(**target)
                .run();
        if (!done) return done;
    }
    return {};
}

Result<void> write_object(Database& database, const ObjectChange& change) {
    Result<std::int64_t> id = 0;
    if (change.before) {
        const auto found = object_id(database, change.type, change.name);
        if (!found) return tl::unexpected(found.error());
        if (!*found)
            return fail(Code::internal,
                        fmt::format("{} {} isn't stored", type_name(change.type), change.name));
        id = **found;
    } else {
        id = insert_object(database, change.type, change.name);
        if (!id) return tl::unexpected(id.error());
    }
    return for_each_difference(change, [&](const Attribute& attribute, const Value* was, const Value* is) {
        return write_attribute(database, *id, attribute, was, is);
    });
}

Result<void> write_object_references(Database& database, const ObjectChange& change) {
    const auto write = [&](const Attribute& attribute, const Value*, const Value* value) -> Result<void> {
        if (!attribute.refers_to || !value) return {};
        const auto id = object_id(database, change.type, change.name);
        if (!id) return tl::unexpected(id.error());
        return write_references(database, id->value(), attribute, *value);
    };
    return for_each_difference(change, write);
}

// Deletes the rows for what an object that goes refers to.
Result<void> delete_references(Database& database, const ObjectChange& change) {
    return database
        .statement("DELETE FROM reference WHERE object = (SELECT id FROM object WHERE type = ? AND name = ?)")
        .bind(type_name(change.type))
        .bind(change.name)
        .run();
}

Result<void> delete_object(Database& database, const ObjectChange& change) {
    return database.statement("DELETE FROM object WHERE type = ? AND name = ?")
        .bind(type_name(change.type))
        .bind(change.name)
        .run();
}

tl::unexpected<Error> senseless(const Database& database, std::string_view what) {
    return tl::unexpected(database.damage(what));
}

// Reads the rows of one object, beginning at the statement's current row; leaves the statement at the next
// object's first row.
Result<Object> read_object(Database& database, Statement& rows, Result<bool>& row) {
    const std::int64_t id = rows.integer(0);
    const std::string type_word = rows.text(1);
    const std::optional<ObjectType> type = type_from_word(type_word);
    if (!type) return senseless(database, fmt::format("'{}' is no type of object", type_word));
    Object object(*type, rows.text(2));
    while (row && *row && rows.integer(0) == id) {
        const std::string name = rows.text(3);
        if (name.empty()) {  // an object without values
            row = rows.step();
            break;
        }
        StringList items;
        for (; row && *row && rows.integer(0) == id && rows.text(3) == name; row = rows.step()) {
            items.push_back(rows.text(4));
        }
        const Attribute* attribute = find_attribute(*type, name);
        if (!attribute) {
            return senseless(database,
                             fmt::format("{} {} has an attribute '{}', which this version doesn't know",
                                         type_word, object.name(), name));
        }
        Result<Value> value = value_of_items(*attribute, items);
        if (!value) {
            return senseless(database, fmt::format("{} {}: {}: {}", type_word, object.name(), name,
                                                   value.error().message));
        }
        object.assign(*attribute, std::move(*value));
    }
    if (!row) return tl::unexpected(row.error());
    return object;
}

}  // namespace

// Writes the changes in an order that the foreign keys allow: new objects before references to them, and the
// references of deleted objects are gone before the first of these objects is, because they may refer to each
// other.
Result<void> write_changes(Database& database, std::span<const ObjectChange> changes) {
    const auto each = [&](bool deleted, auto write) -> Result<void> {
        for (const ObjectChange& change : changes) {
            if ((change.after == nullptr) != deleted) continue;
            if (Result<void> done = write(database, change); !done) return done;
        }
        return {};
    };
    if (Result<void> done = each(false, write_object); !done) return done;
    if (Result<void> done = each(false, write_object_references); !done) return done;
    if (Result<void> done = each(true, delete_references); !done) return done;
    return each(true, delete_object);
}

Result<std::shared_ptr<const Snapshot>> read_configuration(Database& database) {
    const Result<std::uint64_t> revision = last_revision(database);
    if (!revision) return tl::unexpected(revision.error());
    Draft draft(std::make_shared<const Snapshot>());
    Statement rows = database.statement(
        "SELECT object.id, object.type, object.name, coalesce(attribute.name, ''), coalesce(value, '')"
        " FROM object LEFT JOIN attribute ON attribute.object = object.id"
        " ORDER BY object.id, attribute.name, position");
    Result<bool> row = rows.step();
    while (row && *row) {
        Result<Object> object = read_object(database, rows, row);
        if (!object) return tl::unexpected(object.error());
        draft.put(std::move(*object));
    }
    if (!row) return tl::unexpected(row.error());
    return draft.finish(*revision);
}

}  // namespace pbs::objects
