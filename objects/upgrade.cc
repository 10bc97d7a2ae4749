// The format of policy.db. All tables are STRICT; names and values are text as one would type it in qmgr.
//
//   object      one row per object: policies, time_windows, fs_groups and quotas; and a server (name ''),
//               queue or sched while one of the attributes in schema.h is set on it
//   attribute   the values that were set (defaults are not stored), canonical text; a list has one row per
//               element, at positions from 0
//   reference   the objects that attributes name, so that SQLite itself keeps them from being deleted
//   history     one row per object that a command changed; its revision is that of the configuration after
//               it; before and after are JSON objects of the attributes that were set, or null; all rows of
//               one change, such as a rollback, have the revision of its first row as change; part is 'host'
//               if before and after are the attributes that the host keeps of a server, queue, node, resource
//               or sched, and '' if they are those in this database
//   meta        facts that the plugin keeps
//   usage, charge, decay   past usage per scope, user and group; running jobs that were
//               charged; when the usage of a scope was last decayed, in seconds since the Epoch
//
// After a release, a change of the format must be a new step at the end of the list, never a change of a
// step.

#include "objects/upgrade.h"

#include <fmt/format.h>

namespace pbs::objects {
namespace {

// "PBSp", the application id in the file's header: file(1) shows it, and files of other programs are refused.
constexpr int kApplicationId = 0x50425370;

constexpr const char* kSteps[] = {
    // 0 -> 1
    R"(CREATE TABLE object (
         id INTEGER PRIMARY KEY,
         type TEXT NOT NULL,
         name TEXT NOT NULL,
         UNIQUE (type, name)
       ) STRICT;
       CREATE TABLE attribute (
         object INTEGER NOT NULL REFERENCES object ON DELETE CASCADE,
         name TEXT NOT NULL,
         position INTEGER NOT NULL,
         value TEXT NOT NULL,
         PRIMARY KEY (object, name, position)
       ) STRICT, WITHOUT ROWID;
       CREATE TABLE reference (
         object INTEGER NOT NULL REFERENCES object ON DELETE CASCADE,
         attribute TEXT NOT NULL,
         position INTEGER NOT NULL,
         target INTEGER NOT NULL REFERENCES object ON DELETE RESTRICT,
         PRIMARY KEY (object, attribute, position)
       ) STRICT, WITHOUT ROWID;
       CREATE INDEX reference_target ON reference (target);
       CREATE TABLE history (
         revision INTEGER PRIMARY KEY,
         change INTEGER NOT NULL,
         at INTEGER NOT NULL,
         user TEXT NOT NULL,
         host TEXT NOT NULL,
         command TEXT NOT NULL,
         type TEXT NOT NULL,
         name TEXT NOT NULL,
         before TEXT NOT NULL,
         after TEXT NOT NULL,
         part TEXT NOT NULL CHECK (part IN ('', 'host'))
       ) STRICT;
       CREATE INDEX history_object ON history (type, name);
       CREATE INDEX history_type ON history (type);
       CREATE INDEX history_at ON history (at);
       CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
       CREATE TABLE usage (
         scope TEXT NOT NULL,
         user TEXT NOT NULL,
         "group" TEXT NOT NULL,
         amount REAL NOT NULL,
         PRIMARY KEY (scope, user, "group")
       ) STRICT, WITHOUT ROWID;
       CREATE TABLE charge (
         scope TEXT NOT NULL,
         job TEXT NOT NULL,
         user TEXT NOT NULL,
         "group" TEXT NOT NULL,
         amount REAL NOT NULL,
         PRIMARY KEY (scope, job)
       ) STRICT, WITHOUT ROWID;
       CREATE TABLE decay (scope TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;)",
};

Result<int> pragma(Database& database, std::string_view name) {
    Statement statement = database.statement(fmt::format("PRAGMA {}", name));
    const Result<bool> row = statement.step();
    if (!row) return tl::unexpected(row.error());
    return static_cast<int>(statement.integer(0));
}

Result<void> run_steps(Database& database, int from, Steps steps) {
    const auto to = static_cast<int>(steps.size());
    Result<Transaction> transaction = Transaction::begin(database);
    if (!transaction) return tl::unexpected(transaction.error());
    for (const char* step : steps.subspan(static_cast<std::size_t>(from)))
        if (Result<void> done = database.run(step); !done) return done;
    const std::string marks =
        fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {};", to, kApplicationId);
    if (Result<void> done = database.run(marks); !done) return done;
    return transaction->commit();
}

}  // namespace

Steps schema() {
    return kSteps;
}

Result<void> upgrade(Database& database, Steps steps) {
    const auto version = static_cast<int>(steps.size());
    const Result<int> found = pragma(database, "user_version");
    if (!found) return tl::unexpected(found.error());
    const Result<int> owner = pragma(database, "application_id");
    if (!owner) return tl::unexpected(owner.error());
    const Result<int> tables = [&]() -> Result<int> {
        Statement statement = database.statement("SELECT count(*) FROM sqlite_schema");
        const Result<bool> row = statement.step();
        if (!row) return tl::unexpected(row.error());
        return static_cast<int>(statement.integer(0));
    }();
    if (!tables) return tl::unexpected(tables.error());
    const bool fresh = *tables == 0;
    if (!fresh && *owner != kApplicationId) {
        return fail(Code::system,
                    fmt::format("{} is an SQLite database of another program; expected a policy database, "
                                "or no file there",
                                database.path()));
    }
    if (*found < 0 || *found > version) {
        return fail(
            Code::system,
            fmt::format("the policy database {} has version {}, this program knows versions up to {}: "
                        "start the newer program that wrote it, or restore a backup of that time",
                        database.path(), *found, version));
    }
    return *found == version ? Result<void>{} : run_steps(database, *found, steps);
}

}  // namespace pbs::objects
