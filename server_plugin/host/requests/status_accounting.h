#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Answers a StatusSched request whose extend string began with "object=accounting"; `extend` is the rest, as
// pbs_stataccounting() in ifl/pbs_ifl.h says. Errors: PBSE_PERM for whoever is no manager or operator,
// PBSE_IVALREQ for a day without records or another extend string, PBSE_SYSTEM when a file can't be read.
ifl::Reply status_accounting(Context& context, std::string_view extend);

}  // namespace pbs::host
