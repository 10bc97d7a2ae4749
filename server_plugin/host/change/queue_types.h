// The execution_type of queues that a migration of legacy files says.
#pragma once

#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Sets what the plugin tells of: of each queue with a queue_type whose execution_type is still what the
// migration expects, one change with its row in the history. What somebody has set since stays. To be called
// after the start of the plugin and after Manager requests for queues and the configuration. An error of the
// disk goes to the log; the next call tries again.
void set_queue_types(Server& server);

}  // namespace pbs::host
