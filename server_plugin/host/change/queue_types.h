// Sets the execution_type of queues as a migration of legacy files wants it.
#pragma once

#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Sets the types that the plugin asks for: for each queue with a queue_type whose execution_type is still
// what the migration expects, by one change with its row in the history. A value that somebody has set since
// stays. Call it after the start of the plugin and after Manager requests for queues and the configuration.
// An error of the disk goes to the log; the next call tries again.
void set_queue_types(Server& server);

}  // namespace pbs::host
