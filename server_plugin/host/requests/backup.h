// A backup that a manager asks for, who needn't be root: into a folder of the server's own choosing.
#pragma once

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Begins to copy both databases to HOME/server_priv/backups/DATE, in a process of its own: `pbs_server
// --backup`. The reply, once that is over, names the folder. One backup is made at a time, only where as much
// is left free as it takes, and the oldest of more than eight goes.
ifl::Reply begin_backup(Context& context);

}  // namespace pbs::host
