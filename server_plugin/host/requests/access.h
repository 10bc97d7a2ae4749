// Access to the server as a whole, and the log line of each request that is refused for want of rights.
#pragma once

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Checks the server's acl_host_enable and acl_user_enable: PBSE_BADHOST, PBSE_PERM. Managers are always let
// in, so that a wrong list can be put right; so is the server's own host.
Result<void> may_use(const State& state, const Identity& who);

// Writes a line of LogEvent::security if the reply refuses something for want of rights: the request, the
// requester and his host, the object, and the reason. A DeleteJobList has one line for each job.
void log_refusal(const Context& context, const ifl::Reply& reply);

}  // namespace pbs::host
