// Decides who may use the server at all, and logs requests that are refused because the requester lacks
// rights.
#pragma once

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Checks that the requester may use the server, by its acl_host_enable and acl_user_enable. PBSE_BADHOST,
// PBSE_PERM. Managers may always use it, so that they can correct a wrong list. So may clients on the
// server's own host.
Result<void> may_use(const State& state, const Identity& who);

// If the reply refuses something because the requester lacks rights, logs it as LogEvent::security: the
// request, the requester and his host, the object, and the reason. A DeleteJobList has one line for each job.
void log_refusal(const Context& context, const ifl::Reply& reply);

}  // namespace pbs::host
