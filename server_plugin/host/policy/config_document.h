// Adds the server's part to documents of the configuration, and reads it there. The plugin writes and reads
// the whole document (pbs_config(8) describes it). The server's part is its key "host":
//
//   "host": {
//     "server": {"default_queue": "workq"},
//     "queue": {"workq": {"queue_type": "Execution", "resources_max.ncpus": "4"}},
//     "node": {}, "resource": {}, "sched": {}
//   }
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/state/configuration.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// Reads, from the plugin's history, the server's objects that have changed since a revision, as they were at
// that revision. `object`: the only object to read, as pbs_config names it ("queue q1"); empty: all of them.
// The objects are read a few at a time; the server must not change before all are read.
class PastConfiguration {
  public:
    using Objects = std::map<ConfigName, std::optional<ConfigValues>>;

    PastConfiguration(std::string revision, std::string object)
        : revision_(std::move(revision)), object_(std::move(object)) {}

    // Reads some objects. Returns true if more are left, or the plugin's errors, such as an unknown revision.
    Result<bool> read_some(Plugin& plugin, int64_t now, const Identity& who);
    // Returns the objects with their values; nullopt in place of values: the object didn't exist at the
    // revision. REQUIRES: all are read.
    Objects& objects() { return objects_; }

  private:
    std::string revision_;
    std::string object_;
    std::string after_;
    Objects objects_;
};

// Adds the server's part to the plugin's document.
std::string add_host_document(std::string document, const HostConfiguration& configuration);

// Reads the server's part of a document; nullopt: the document has none. A text that isn't JSON counts as
// having none, because the plugin reports that mistake. Errors: PBSE_BADATVAL, with a line for each mistake
// in the part.
Result<std::optional<HostConfiguration>> read_host_document(std::string_view document);

}  // namespace pbs::host
