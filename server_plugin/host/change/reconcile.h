// What the plugin's history says of the server's objects, and what the server has. They are in two databases:
// a crash or a full disk between the two commits leaves a change in the plugin's alone.
#pragma once

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Brings the two together. If nothing of the last change is in the server, it is taken back in the plugin,
// too: a rollback that the history has, of the user pbs_server. Whatever else is different, such as what was
// changed while another plugin or none was loaded, gets rows in the history. For the server's start, once the
// plugin has started, and for a commit that has failed after the plugin's. A plugin that keeps no history is
// left alone.
Result<void> reconcile_history(Server& server);

}  // namespace pbs::host
