// Makes backups for managers. A manager needn't be root, because the server chooses the folder.
#pragma once

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Begins to copy both databases to HOME/server_priv/backups/DATE, in a process `pbs_server --backup`. The
// reply comes when the copy is complete, and names the folder. Only one backup is made at a time. The disk
// has to have twice the space that the backup needs. If there are more than eight backups afterwards, removes
// the oldest.
ifl::Reply begin_backup(Context& context);

}  // namespace pbs::host
