#include "server_plugin/host/store/schema.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

// The tables:
// object: the server (name ""), queues, nodes, schedulers and reservations. `type` is from enum
//   pbs_object_type, `id` is the handle.
// object_aside: the new objects of a change of many objects. `attributes` are netstrings
//   (stored_attributes.h), for a resource its type and flags; NULL: the object is deleted. The rows count
//   once the table counter has a row `aside_holds`. From then until they are moved, the tables object and
//   resource are out of date.
// job: for `attributes` see stored_attributes.h; their numbers are in attribute_name.
// depend: each row is a Link (dependencies.h). The meaning of `other` depends on the link's kind.
// received: the jobs that other servers handed in (arrival.h), by their ids in lower case.
// job_comment: a waiting job's comment, in place of one in job.attributes, and the job's mtime. Equal texts
//   have one row of the table comment. There is no REFERENCES, because SQLite would then read the page of the
//   job for each comment that a cycle sets.
constexpr std::array kSteps = {
    R"sql(
CREATE TABLE server_name(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  name TEXT NOT NULL);
CREATE TABLE object(
  id INTEGER PRIMARY KEY,
  type INTEGER NOT NULL,
  name TEXT NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL DEFAULT 0,
  UNIQUE(type, name));
CREATE TABLE object_attribute(
  object INTEGER NOT NULL REFERENCES object(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  resource TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(object, name, resource)) WITHOUT ROWID;
CREATE TABLE object_aside(
  type INTEGER NOT NULL,
  name TEXT NOT NULL,
  id INTEGER NOT NULL,
  state INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  attributes BLOB,
  PRIMARY KEY(type, name)) WITHOUT ROWID;
CREATE TABLE resource(
  name TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  flags TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counter(
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE job(
  sequence INTEGER PRIMARY KEY,
  state TEXT NOT NULL,
  substate INTEGER NOT NULL,
  queue TEXT NOT NULL,
  queue_rank INTEGER NOT NULL,
  ctime INTEGER NOT NULL,
  qtime INTEGER NOT NULL,
  etime INTEGER NOT NULL,
  stime INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  obittime INTEGER NOT NULL,
  exec_vnode TEXT NOT NULL,
  exec_host TEXT NOT NULL,
  at_end INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  defaulted TEXT NOT NULL,
  attributes BLOB NOT NULL);
CREATE TABLE attribute_name(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE);
CREATE TABLE job_script(
  sequence INTEGER PRIMARY KEY REFERENCES job(sequence) ON DELETE CASCADE,
  script BLOB NOT NULL);
CREATE TABLE comment(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE);
CREATE TABLE job_comment(
  job INTEGER PRIMARY KEY,
  comment INTEGER NOT NULL,
  mtime INTEGER NOT NULL);
CREATE INDEX job_of_comment ON job_comment(comment);
CREATE TRIGGER job_gone AFTER DELETE ON job BEGIN
  DELETE FROM job_comment WHERE job = OLD.sequence;
END;
CREATE TABLE depend(
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  other INTEGER NOT NULL);
CREATE TABLE received(
  id TEXT PRIMARY KEY,
  hops INTEGER NOT NULL,
  at INTEGER NOT NULL) WITHOUT ROWID;
)sql",
};

}  // namespace

SchemaSteps server_schema() {
    return kSteps;
}

Result<void> upgrade(sqlite::Connection& db, const std::string& path, SchemaSteps steps) {
    const auto failed = [&](std::string_view what) {
        return fail(PBSE_SYSTEM, fmt::format("{}: {}: {}", path, what, db.error()));
    };
    const auto found = db.integer("PRAGMA user_version");
    if (!found) return failed("can not read its version");
    const auto newest = static_cast<int64_t>(steps.size());
    if (*found > newest)
        return fail(PBSE_SYSTEM,
                    fmt::format("{}: version {} is newer than this server's {}", path, *found, newest));
    for (int64_t version = *found; version < newest; ++version) {
        const std::string sql = fmt::format("BEGIN IMMEDIATE;{};PRAGMA user_version={};COMMIT;",
                                            steps[static_cast<size_t>(version)], version + 1);
        if (db.run(sql)) continue;
        const auto error = failed("can not be upgraded");
        db.roll_back();
        return error;
    }
    return {};
}

}  // namespace pbs::host
