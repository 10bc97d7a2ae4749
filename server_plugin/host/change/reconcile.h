// Compares the plugin's history with the server's objects. They are in two databases: a crash or a full disk
// between the two commits leaves a change in the plugin's alone.
#pragma once

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Brings the two together. If the server has nothing of the last change, it is taken back in the plugin too,
// by a rollback in the history, of the user pbs_server. Any other difference, such as changes made while
// another plugin or none was loaded, gets rows in the history. Call it at the server's start, once the plugin
// has started, and when a commit has failed after the plugin's. A plugin that keeps no history is left alone.
Result<void> reconcile_history(Server& server);

}  // namespace pbs::host
