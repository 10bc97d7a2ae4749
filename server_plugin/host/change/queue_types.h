// Sets the execution_type of queues, as a migration of legacy files has decided.
#pragma once

#include "server_plugin/host/change/server.h"

namespace pbs::host {

// Sets the execution_types that the plugin asks for. Skips a queue without a queue_type. A queue whose
// execution_type isn't the one that the migration expects, because somebody has set another, keeps it. Each
// queue gets a change of its own, with a row in the history. Call this after the start of the plugin, and
// after Manager requests for queues and the configuration. An error of the disk is logged; the next call
// tries again.
void set_queue_types(Server& server);

}  // namespace pbs::host
