#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Answers a StatusSched request whose extend string began with "object=diagnosis"; `extend` is the rest. The
// object's name says which part, as pbs_statdiagnosis() in ifl/pbs_ifl.h says. Errors: PBSE_PERM for whoever
// is no manager or operator, but for the part "counters"; PBSE_IVALREQ for another part or an extend string.
ifl::Reply status_diagnosis(Context& context, std::string_view extend);

}  // namespace pbs::host
