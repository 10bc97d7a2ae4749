// Sets the execution_type of queues, as a migration of legacy files decided.
#pragma once

#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Sets the execution_types that the plugin asks for. A queue needs a queue_type, and its execution_type still
// has to be the one that the migration expects: a value that somebody has set since stays. Each queue has one
// change, with a row in the history. Call it after the start of the plugin, and after Manager requests for
// queues and the configuration. An error of the disk is logged; the next call tries again.
void set_queue_types(Server& server);

}  // namespace pbs::host
