// Changes of many objects at once: the configuration or one object taken back to a revision, and the import
// of a document (config_json.h). The result is checked as a whole before anything is written, so the order of
// the objects doesn't matter. The history gets one row per changed object, all with the same command and the
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
// Reads "policy p1", "t t1", "server". Errors: invalid_request.
Result<ObjectName> parse_object_name(std::string_view text);

// Does the host have this queue or sched? If not, its attributes in the store stay as they are, with a
// warning.
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
    // The server's own changes at the same time. After them, no object may name a queue or resource that the
    // server removes.
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

// Takes one object or the whole configuration back to a revision: values set since are unset, objects made
// since are deleted, deleted ones are made again. Only managers may. On an error nothing has changed. Errors:
// bad_value, the revision doesn't exist, or is an inner one of a change of several rows (whole configuration
// only), or its values don't fit today's server; busy, naming what refers to an object that would go;
// invalid_request, default_policy would go; unknown_object, there was never such an object.
Result<Rewritten> restore(Store& store, const Restoration& what, const RewriteOptions& options,
                          const Identity& identity, std::chrono::sys_seconds now);

// Imports a document. Only managers may. On an error nothing has changed. Errors: the mistakes in the
// document, one line each, with object and attribute; those of restore().
Result<Rewritten> import(Store& store, const Import& what, const RewriteOptions& options,
                         const Identity& identity, std::chrono::sys_seconds now);

// A page of the server's objects, and the revision at which the next page begins; nullopt: this is the last
// page.
struct HostPage {
    std::vector<HostObject> objects;
    std::optional<std::uint64_t> next{};
};
// The server parts of objects as they were at a revision, as JSON (null: the object didn't exist): of all
// objects whose server part has changed since then, or of the object in `what` alone. With `after`, returns
// one page, short enough that nobody waits; it begins with the changes after that revision, which is
// what.revision at first and then HostPage::next. If several pages have an object, the first one counts.
// Errors: bad_value, as restore().
Result<HostPage> host_objects(Store& store, const Restoration& what,
                              std::optional<std::uint64_t> after = std::nullopt);

// The last row about the server's part of each object that has any.
Result<std::vector<HistoryEntry>> last_host_rows(Store& store);

// The present configuration, or that of a revision, as a document. Errors: bad_value, as restore().
Result<std::string> export_document(Store& store, std::optional<std::uint64_t> revision);

}  // namespace pbs::objects
