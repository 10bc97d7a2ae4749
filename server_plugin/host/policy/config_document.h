// The server's part in documents of the configuration. The plugin writes and reads the document
// (pbs_config(8) describes it); the server's part is its key "host":
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

// The server's objects that have changed since a revision, as they were at that revision (nullopt: not
// there). Without an object all of them; an object is given as pbs_config names it ("queue q1"). They are
// read a few at a time, and the server must not change until all are read.
class PastConfiguration {
  public:
    using Objects = std::map<ConfigName, std::optional<ConfigValues>>;

    PastConfiguration(std::string revision, std::string object)
        : revision_(std::move(revision)), object_(std::move(object)) {}

    // Reads some objects. True while more are left. Errors: the plugin's, such as that there is no such
    // revision.
    Result<bool> read_some(Plugin& plugin, int64_t now, const Identity& who);
    // The objects. REQUIRES: all are read.
    Objects& objects() { return objects_; }

  private:
    std::string revision_;
    std::string object_;
    std::string after_;
    Objects objects_;
};

// The plugin's document with the server's part added to it.
std::string add_host_document(std::string document, const HostConfiguration& configuration);

// Reads the server's part of a document; nullopt if it has none. A text that isn't JSON has none either: the
// plugin says what is wrong with it. Errors: PBSE_BADATVAL, a line for each mistake in the part.
Result<std::optional<HostConfiguration>> read_host_document(std::string_view document);

}  // namespace pbs::host
