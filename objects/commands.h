// Requests to the store: commands, the identity that asks, and the replies.
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
    std::string key{};  // NAME of attribute.NAME, for attributes with keys (Attribute::is_keyed())
};

// A change of an object that the server keeps in its own database, for the history: the attributes before and
// after as JSON ({"Priority":"5"}), null where the object doesn't exist. The store doesn't interpret the
// attributes.
struct HostChange {
    ObjectType type = ObjectType::server;
    std::string name;  // empty for the server
    std::string before;
    std::string after;

    bool removes() const { return after == "null"; }
};

// The server's part of an object at some revision: its attributes as JSON, null if it didn't exist.
struct HostObject {
    ObjectType type = ObjectType::server;
    std::string name;
    std::string attributes;
};

// One Manager request on one object. `object` is ignored for the server. create may have changes: then the
// object is made and set, or not made at all. queue and sched objects are created and deleted by the host:
// create and remove (without changes) follow it; set and unset change the attributes of schema.h.
struct Command {
    CommandKind kind = CommandKind::set;
    ObjectType type = ObjectType::policy;
    std::string object;
    std::vector<AttributeChange> changes{};
    // The server's own changes on the same request; also for the types node and resource. They are written
    // together with the command or not at all. If there are any, set and unset need no `changes`.
    std::vector<HostChange> host{};
    std::string text{};  // the whole request as one would type it, if `changes` don't tell all of it
};

// The command as one would type it in qmgr: `set policy p1 by_queue = False`. The history keeps this text.
std::string to_text(const Command& command);

// Bits of Identity::privilege, with the plugin ABI's numbers.
enum Privilege : unsigned {
    user_privilege = 0,
    operator_privilege = 1,
    manager_privilege = 2,
    root_privilege = 4
};

// The person who gives a command, from the connection's credentials.
struct Identity {
    std::string user;
    std::string host;
    unsigned privilege = user_privilege;
};

// Checks that the identity may execute the command. Managers and root may do everything. Operators may change
// the attributes flagged operator_sets (as PBS lets them set a comment), nothing else. The server's own
// changes (Command::host) are up to the server. Status requests, which anyone may make, aren't checked.
// Errors: no_permission.
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
    warn,  // for migrations, which may come before the server's queues: puts a line into Reply::warnings
};

// Commands that are executed all together or not at all, such as a migration.
struct ChangeSet {
    std::vector<Command> commands{};
    UnknownNames unknown_names = UnknownNames::refuse;
};

// A row of the history: the effect of one command on one object. A command that changes both the server's
// attributes of an object and the store's makes two rows.
struct HistoryEntry {
    std::uint64_t revision = 0;  // of the configuration after the command
    std::chrono::sys_seconds at{};
    std::string user;
    std::string host;
    std::string command;
    ObjectType type = ObjectType::policy;
    std::string object;
    std::string before;  // JSON: the attributes that were set, or null if the object didn't exist
    std::string after;
    // The revision of the first row of the change that this row belongs to: the rows of one change, executed
    // together or not at all (a migration, a rollback, an import), have the same number. 0: the row is a
    // change by itself.
    std::uint64_t change = 0;
    bool of_host = false;  // before and after are the server's attributes (HostChange), not the store's
};

struct HistoryQuery {
    std::optional<ObjectType> type{};
    std::optional<std::string> object{};
    std::optional<std::chrono::sys_seconds> from{};   // this instant or later
    std::optional<std::chrono::sys_seconds> until{};  // before this instant
    // The answer has the latest rows, oldest first: at most `limit`, and of at most `bytes`, but at least
    // one. The order is that of revisions; with `from` or `until` that of times, and then of revisions.
    std::size_t limit = 1000;
    std::size_t bytes = std::size_t{16} << 20;
    // Asks for rows before this one in that order, so that a caller gets page after page.
    std::optional<std::uint64_t> before_revision{};
};

// One attribute in the answer to a status request, as canonical text.
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

// Describes one object of a type, or, with an empty name, all of them in the order of names. `wanted` chooses
// attributes; empty: all that have a value. Attributes come in the order of the table. A server, queue or
// sched with none of these attributes set is described without attributes. Errors: unknown_object for an
// object of a type of this project that doesn't exist; unknown_attribute for a wanted attribute that the type
// doesn't have.
Result<std::vector<ObjectStatus>> status(const Snapshot& snapshot, ObjectType type, std::string_view name,
                                         const std::vector<std::string>& wanted);
// Describes one object with all attributes that have a value.
ObjectStatus status(const Object& object);

}  // namespace pbs::objects
