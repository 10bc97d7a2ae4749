// Makes the plugin's history and the server's objects agree. They are in two databases. The plugin commits
// first: after a crash or a full disk between the two commits, only the plugin's database has the change.
#pragma once

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Compares the last row of each object in the history with the server's object. If the server has nothing of
// the history's last change, the plugin undoes that change, by a rollback of the user pbs_server in the
// history. Any other difference, such as changes made while another plugin or none was loaded, is added to
// the history. Call it at the server's start, after the plugin's. Does nothing if the plugin has no history.
Result<void> reconcile_history(Server& server);
// Does so after the plugin has committed a change that the server couldn't commit, and logs a failure: the
// next start tries again.
void reconcile_after_failure(Server& server);

}  // namespace pbs::host
