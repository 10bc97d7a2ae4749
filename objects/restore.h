// Changes many objects at once: takes the configuration or one object back to a revision, and imports a
// document (config_json.h). The result is checked as a whole before anything is written, so the order of the
// objects doesn't matter. The history gets a row for each changed object, all with the same command and the
// same HistoryEntry::change.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/commands.h"
#include "objects/store.h"

namespace pbs::objects {

struct ObjectName {
    ObjectType type = ObjectType::policy;
    std::string name;  // empty for the server
};
// Reads a type, which may be abbreviated as in qmgr, and a name: "policy p1", "t t1", "server". Errors:
// invalid_request.
Result<ObjectName> parse_object_name(std::string_view text);

// Returns whether the host has this queue or sched. If it hasn't, the object's attributes in the store stay
// as they are, with a warning.
using HostHas = std::function<bool(ObjectType type, std::string_view name)>;

struct Restoration {
    std::uint64_t revision = 0;
    std::optional<ObjectName> object{};  // nullopt: the whole configuration
};

struct Import {
    std::string document;
    // True: the document becomes the whole configuration. False: objects and attributes that it doesn't name
    // stay as they are.
    bool replace = false;
};

struct RewriteOptions {
    HostHas host_has;
    bool dry_run = false;  // checks everything and changes nothing
    // Changes to attributes that the server keeps itself, made together with this one. Once all are made, no
    // object may name a queue or resource that these changes remove.
    std::vector<HostChange> host{};
};

struct Rewritten {
    Reply reply;
    // The changes made, or to be made in a dry run: a line for each object and attribute, such as "policy p1:
    // by_queue = True".
    std::vector<std::string> lines{};
    bool usage = false;        // past usage was stored for the first time
    bool share_usage = false;  // usage of a fairshare tree was stored for the first time
};

// Takes one object or the whole configuration back to a revision: unsets values that were set since, deletes
// objects that were made since, and makes deleted ones again. Only managers may do this. On an error nothing
// has changed. Errors: bad_value, the revision doesn't exist, or is within a change of several rows (whole
// configuration only), or its values don't fit the present server; busy, naming what refers to an object that
// would be deleted; invalid_request, default_policy would be deleted; unknown_object, there was never such an
// object.
Result<Rewritten> restore(Store& store, const Restoration& what, const RewriteOptions& options,
                          const Identity& identity, std::chrono::sys_seconds now);

// Imports a document. Only managers may do this. On an error nothing has changed. Errors: the mistakes in the
// document, a line each, with object and attribute; and the errors of restore().
Result<Rewritten> import(Store& store, const Import& what, const RewriteOptions& options,
                         const Identity& identity, std::chrono::sys_seconds now);

// A page of objects with the attributes that the server keeps. `next` is the revision at which the next page
// begins; nullopt: this is the last page.
struct HostPage {
    std::vector<HostObject> objects;
    std::optional<std::uint64_t> next{};
};
// Returns the attributes that the server kept of objects at a revision, as JSON (null: the object didn't
// exist): of all objects of which they have changed since then, or of the object in `what` alone. With
// `after`, returns one page, which takes a short time; it begins with the changes after that revision. Pass
// what.revision at first and then HostPage::next. If several pages have an object, the first one counts.
// Errors: bad_value, as restore().
Result<HostPage> host_objects(Store& store, const Restoration& what,
                              std::optional<std::uint64_t> after = std::nullopt);

// Returns the last row about the attributes that the server keeps, for each object with such rows.
Result<std::vector<HistoryEntry>> last_host_rows(Store& store);

// Returns the present configuration, or that of a revision, as a document. Errors: bad_value, as restore().
Result<std::string> export_document(Store& store, std::optional<std::uint64_t> revision);

}  // namespace pbs::objects
