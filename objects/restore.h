// Many objects in one change: the configuration or an object as it was at a revision, and the import of a
// document (config_json.h). What would come of it is checked as a whole before anything is written, so that
// the order of things doesn't matter; in the history it is one row per object that changed, all with the same
// command and the same HistoryEntry::change.
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

// Does the host have this queue or sched? If it doesn't, or doesn't any more, the attributes that are kept
// here of it stay as they are, with a warning.
using HostHas = std::function<bool(ObjectType type, std::string_view name)>;

struct Restoration {
    std::uint64_t revision = 0;
    std::optional<ObjectName> object{};  // not set: the whole configuration
};

struct Import {
    std::string document;
    // True: the configuration is then what the document says and nothing else. False: objects and attributes
    // that it doesn't name stay as they are.
    bool replace = false;
};

struct RewriteOptions {
    HostHas host_has;
    bool dry_run = false;  // checks everything and changes nothing
    // What the server does in the same change. After it, no object may name a queue or resource that the
    // server removes.
    std::vector<HostChange> host{};
};

struct Rewritten {
    Reply reply;
    // What changed, or would: a line for each object and attribute, such as "policy p1: by_queue = True".
    std::vector<std::string> lines{};
    bool usage = false;        // past usage is stored where there was none before
    bool share_usage = false;  // usage of a tree of fair shares is
};

// Takes an object or everything back to a revision: values that were set since are unset, objects that were
// made since are deleted, deleted ones are made again. Only managers may. Errors, nothing having changed:
// bad_value, for a revision that there isn't, or that is in the midst of one change (whole configuration
// only), or where what was then doesn't fit to what is now; busy, naming what refers to an object that would
// go; invalid_request, default_policy would go; unknown_object, there was never such an object.
Result<Rewritten> restore(Store& store, const Restoration& what, const RewriteOptions& options,
                          const Identity& identity, std::chrono::sys_seconds now);

// Imports a document. Only managers may. Errors, nothing having changed: what is wrong with it, one line for
// each mistake, with its object and attribute; those of restore().
Result<Rewritten> import(Store& store, const Import& what, const RewriteOptions& options,
                         const Identity& identity, std::chrono::sys_seconds now);

// Some of the server's objects, and the revision from which the next page goes on; nothing: this is the last
// one.
struct HostPage {
    std::vector<HostObject> objects;
    std::optional<std::uint64_t> next{};
};
// The server parts of objects as they were at a revision, as JSON (null: there was no such object): of all
// objects whose server part has changed since then, or of the object in `what` alone. With `after`, a page of
// them, as many as keep nobody waiting; it begins with the changes behind that revision, which is
// what.revision at first and then HostPage::next. If several pages have an object, the first one counts.
// Errors: bad_value, as restore().
Result<HostPage> host_objects(Store& store, const Restoration& what,
                              std::optional<std::uint64_t> after = std::nullopt);

// The last row of each object of which the server's part has ever changed.
Result<std::vector<HistoryEntry>> last_host_rows(Store& store);

// The configuration as a document: the present one, or that of a revision. Errors: bad_value, as restore().
Result<std::string> export_document(Store& store, std::optional<std::uint64_t> revision);

}  // namespace pbs::objects
