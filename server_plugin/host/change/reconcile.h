// Compares the plugin's history with the server's objects. They are in two databases: after a crash or a full
// disk between the two commits, only the plugin's database has the change.
#pragma once

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Makes the two agree. If the server has nothing of the last change, the plugin undoes it, too, by a rollback
// of the user pbs_server in the history. Any other difference, such as changes made while another plugin or
// none was loaded, is added to the history. Call it at the server's start, after the plugin's, and when a
// commit has failed after the plugin's commit. Does nothing if the plugin has no history.
Result<void> reconcile_history(Server& server);

}  // namespace pbs::host
