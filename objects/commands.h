// What can be asked of the store: commands, who asks, and the answers.
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

// As the batch protocol numbers them.
enum class CommandKind : int { create = 0, remove = 1, set = 2, unset = 3 };

struct AttributeChange {
    std::string name;
    std::string value;  // ignored by unset
    Operation operation = Operation::set;
};

// What a request changes of an object in the server's own database, for the history: the attributes that it
// keeps of it, as JSON ({"Priority":"5"}), null where it isn't there. Nothing here reads the attributes.
struct HostChange {
    ObjectType type = ObjectType::server;
    std::string name;  // empty for the server
    std::string before;
    std::string after;

    bool removes() const { return after == "null"; }
};

// The server's part of an object at some revision: its attributes as JSON, null if it wasn't there.
struct HostObject {
    ObjectType type = ObjectType::server;
    std::string name;
    std::string attributes;
};

// One Manager request on one object. `object` is ignored for the server. create may have changes: the object
// is made and set, or not made. For queue and sched objects, whose life is the host's: create and remove
// (without changes) follow the host's, set and unset change the attributes of schema.h.
struct Command {
    CommandKind kind = CommandKind::set;
    ObjectType type = ObjectType::policy;
    std::string object;
    std::vector<AttributeChange> changes{};
    // What the server does on the same request; for any type, also node and resource. It is written with the
    // rest or not at all. With it, set and unset need no changes of their own.
    std::vector<HostChange> host{};
    std::string text{};  // the whole request as one would type it, if there is more to it than `changes`
};

// The command as one would type it in qmgr: `set policy p1 by_queue = False`. It is what history keeps.
std::string to_text(const Command& command);

// Bits of Identity::privilege, as in the plugin ABI.
enum Privilege : unsigned {
    user_privilege = 0,
    operator_privilege = 1,
    manager_privilege = 2,
    root_privilege = 4
};

// Who asks, made from the connection's credentials.
struct Identity {
    std::string user;
    std::string host;
    unsigned privilege = user_privilege;
};

// May this identity execute this command? Managers and root: everything. Operators: the attributes flagged
// operator_sets (as PBS lets them set a comment), nothing else. Anyone may stat, so that isn't asked here;
// nor is what the server does by itself (Command::host). Errors: no_permission.
Result<void> authorize(const Command& command, const Identity& identity);

struct Reply {
    bool changed = false;
    std::uint64_t revision = 0;                // of the store after the command
    std::vector<std::string> warnings{};       // for the client to print
    std::shared_ptr<const Snapshot> snapshot;  // what holds now; never null
};

// What becomes of a value that names a queue, resource or program that isn't there.
enum class UnknownNames {
    refuse,
    warn,  // for migrations, which may come before the server's queues: Reply::warnings tells of it
};

// Many commands that hold together or not at all, such as a migration.
struct ChangeSet {
    std::vector<Command> commands{};
    UnknownNames unknown_names = UnknownNames::refuse;
};

// A row of the history: what one command did to one object; where it changed attributes of the server's and
// of ours, to the one part of it.
struct HistoryEntry {
    std::uint64_t revision = 0;  // of the configuration after it
    std::chrono::sys_seconds at{};
    std::string user;
    std::string host;
    std::string command;
    ObjectType type = ObjectType::policy;
    std::string object;
    std::string before;  // JSON: the attributes that were set, or null if the object wasn't there
    std::string after;
    // The revision of the first row of the change that this is a part of: rows that hold together or not at
    // all (a migration, a rollback, an import) have the same number here. 0: a change of its own.
    std::uint64_t change = 0;
    bool of_host = false;  // before and after are the server's attributes (HostChange), not ours
};

struct HistoryQuery {
    std::optional<ObjectType> type{};
    std::optional<std::string> object{};
    std::optional<std::chrono::sys_seconds> from{};   // this instant or later
    std::optional<std::chrono::sys_seconds> until{};  // before this instant
    // The latest so many, oldest first, and fewer if their texts have more than so many bytes (never less
    // than one row); those before a revision go on from there. "Latest" and "before" are by revision; with
    // `from` or `until` by time and then by revision.
    std::size_t limit = 1000;
    std::size_t bytes = std::size_t{16} << 20;
    std::optional<std::uint64_t> before_revision{};
};

// What a status request tells of one object: canonical texts in the order of the table.
struct AttributeStatus {
    const Attribute* attribute = nullptr;
    std::string value;
    bool is_default = false;  // not set: what is shown is the default
};
struct ObjectStatus {
    ObjectType type = ObjectType::policy;
    std::string name;
    std::vector<AttributeStatus> attributes{};
};

// Describes one object of a type, or, with an empty name, all of them in the order of names. `wanted` chooses
// attributes; empty: all that have a value. Errors: unknown_object for a name of the own types that doesn't
// exist; unknown_attribute for a wanted attribute that the type doesn't have. A server, queue or sched that
// has none of these attributes set is described without attributes.
Result<std::vector<ObjectStatus>> status(const Snapshot& snapshot, ObjectType type, std::string_view name,
                                         const std::vector<std::string>& wanted);
// Describes one object, all attributes that have a value.
ObjectStatus status(const Object& object);

}  // namespace pbs::objects
