// The server's part in documents of the configuration. The plugin writes and reads the document
// (pbs_config(8) describes it); the server's part is its key "host":
//
//   "host": {
//     "server": {"default_queue": "workq"},
//     "queue": {"workq": {"queue_type": "Execution", "resources_max.ncpus": "4"}},
//     "node": {}, "resource": {}, "sched": {}
//   }
#ifndef PBSPOLICY_HOST_CONFIG_DOCUMENT_H
#define PBSPOLICY_HOST_CONFIG_DOCUMENT_H

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/host/configuration.h"
#include "server_plugin/host/identity.h"
#include "server_plugin/host/plugin.h"

namespace pbs::host {

// The server's objects that have changed since a revision, as they were at it (nullopt: not there); all of
// them, or with an object as pbs_config names it ("queue q1") that one. Errors: the plugin's, such as that
// there is no such revision.
Result<std::map<ConfigName, std::optional<ConfigValues>>> past_configuration(Plugin& plugin, int64_t now,
                                                                             const Identity& who,
                                                                             std::string_view revision,
                                                                             std::string_view object);

// The plugin's document with the server's part added to it.
std::string add_host_document(std::string document, const HostConfiguration& configuration);

// The server's part of a document; nullopt if it has none. What is no JSON at all has none either: the plugin
// says what is wrong with it. Errors: PBSE_BADATVAL, a line for each mistake in the part.
Result<std::optional<HostConfiguration>> read_host_document(std::string_view document);

}  // namespace pbs::host

#endif
