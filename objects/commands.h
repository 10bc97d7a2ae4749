// Requests to the store: the commands, the identity of the user who gives them, and the replies.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "objects/error.h"
#include "objects/schema.h"

namespace pbs::objects {

class Object;
class Snapshot;

// The kinds of commands, with the batch protocol's numbers.
enum class CommandKind : int { create = 0, remove = 1, set = 2, unset = 3 };

struct AttributeChange {
    std::string name;
    std::string value;  // ignored by unset
    Operation operation = Operation::set;
    std::string key{};  // NAME in attribute.NAME, for attributes with keys (Attribute::is_keyed())
};

// A change of an object that the server keeps in its own database. The history records it, with the
// attributes before and after as JSON ({"Priority":"5"}), null if the object doesn't exist. The store doesn't
// read the attributes.
struct HostChange {
    ObjectType type = ObjectType::server;
    std::string name;  // empty for the server
    std::string before;
    std::string after;

    bool removes() const { return after == "null"; }
};

// The attributes that the server itself keeps of an object, at some revision, as JSON; null if the object
// didn't exist.
struct HostObject {
    ObjectType type = ObjectType::server;
    std::string name;
    std::string attributes;
};

// A Manager request on one object. `object` is ignored if the type is server. A create with changes makes the
// object and sets them, or fails as a whole. The host creates and deletes queues and scheds: for these types
// create and remove (without changes) tell the store that the host has done so. set and unset change the
// attributes in schema.h.
struct Command {
    CommandKind kind = CommandKind::set;
    ObjectType type = ObjectType::policy;
    std::string object;
    std::vector<AttributeChange> changes{};
    // The changes of the same request to attributes that the server keeps itself, also of the types node and
    // resource. They are written together with the command or not at all. If there are any, set and unset
    // need no `changes`.
    std::vector<HostChange> host{};
    std::string text{};  // the request as typed in qmgr, if `changes` don't contain all of it
};

// Returns the command as typed in qmgr: `set policy p1 by_queue = False`. The history keeps this text.
std::string to_text(const Command& command);

// Bits of Identity::privilege, with the plugin ABI's numbers.
enum Privilege : unsigned {
    user_privilege = 0,
    operator_privilege = 1,
    manager_privilege = 2,
    root_privilege = 4
};

// The user who gives a command, from the credentials of the connection.
struct Identity {
    std::string user;
    std::string host;
    unsigned privilege = user_privilege;
};

// Checks that the identity may execute the command. Managers and root may do everything. Operators may only
// change attributes with the flag operator_sets (as PBS lets them set a comment). The server checks its own
// changes (Command::host). Anyone may make status requests, so they aren't checked. Errors: no_permission.
Result<void> authorize(const Command& command, const Identity& identity);

struct Reply {
    bool changed = false;
    std::uint64_t revision = 0;                // the store's revision after the command
    std::vector<std::string> warnings{};       // for the client to print
    std::shared_ptr<const Snapshot> snapshot;  // the configuration in force; never null
};

// The treatment of values that name a queue, resource or program that doesn't exist.
enum class UnknownNames {
    refuse,
    warn,  // accept with a line in Reply::warnings: a migration may come before the server's queues
};

// Commands that are executed all together or not at all, such as a migration.
struct ChangeSet {
    std::vector<Command> commands{};
    UnknownNames unknown_names = UnknownNames::refuse;
};

// A row of the history: the effect of a command on one object. A command makes two rows for an object if it
// changes both the attributes that the server keeps and those in the store.
struct HistoryEntry {
    std::uint64_t revision = 0;  // the configuration's revision after the command
    std::chrono::sys_seconds at{};
    std::string user;
    std::string host;
    std::string command;
    ObjectType type = ObjectType::policy;
    std::string object;
    std::string before;  // JSON: the attributes that were set, or null if the object didn't exist
    std::string after;
    // The revision of the first row of the change to which this row belongs. All rows of a change that is
    // executed together or not at all (a migration, a rollback, an import) have the same number. 0: the row
    // is a change by itself.
    std::uint64_t change = 0;
    bool of_host = false;  // before and after are the server's attributes (HostChange), not the store's
};

struct HistoryQuery {
    std::optional<ObjectType> type{};
    std::optional<std::string> object{};
    std::optional<std::chrono::sys_seconds> from{};   // this instant or later
    std::optional<std::chrono::sys_seconds> until{};  // before this instant
    // The answer has the latest rows that fit both `limit`, a number of rows, and `bytes`, but at least one
    // row; oldest first. Rows are in the order of revisions; with `from` or `until`, in the order of times,
    // and then of revisions.
    std::size_t limit = 1000;
    std::size_t bytes = std::size_t{16} << 20;
    // Asks only for rows before this revision in that order, so that a caller gets one page after the other.
    std::optional<std::uint64_t> before_revision{};
};

// An attribute in the answer to a status request; `value` is canonical text.
struct AttributeStatus {
    const Attribute* attribute = nullptr;
    std::string value;
    bool is_default = false;  // the attribute isn't set: `value` is the default
    std::string key{};        // the name of the element, for attributes with keys
};
struct ObjectStatus {
    ObjectType type = ObjectType::policy;
    std::string name;
    std::vector<AttributeStatus> attributes{};
};

// Returns the status of one object of a type or, with an empty name, of all of them in the order of names.
// `wanted` chooses attributes; empty: all that have a value. Attributes come in the order of the table. A
// server, queue or sched without any of these attributes has a status without attributes. Errors:
// unknown_object, if a policy, time_window, fs_group or quota doesn't exist; unknown_attribute, if the type
// doesn't have a wanted attribute.
Result<std::vector<ObjectStatus>> status(const Snapshot& snapshot, ObjectType type, std::string_view name,
                                         const std::vector<std::string>& wanted);
// Returns the status of one object, with all attributes that have a value.
ObjectStatus status(const Object& object);

}  // namespace pbs::objects
