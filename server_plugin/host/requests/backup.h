// Backups for managers, who needn't be root: into a folder that the server chooses.
#pragma once

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Begins to copy both databases to HOME/server_priv/backups/DATE, in a process of its own: `pbs_server
// --backup`. The reply, once that is over, names the folder. Only one backup is made at a time, and only if
// as much space stays free as it takes; of more than eight the oldest is removed.
ifl::Reply begin_backup(Context& context);

}  // namespace pbs::host
