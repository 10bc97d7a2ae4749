// StatusSched requests about other things than schedulers. Their extend string begins with "object=";
// `extend` is the rest of it.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// "object=accounting", as described at pbs_stataccounting() in ifl/pbs_ifl.h. Errors: PBSE_PERM unless the
// requester is a manager or operator; PBSE_IVALREQ for a day without records or another extend string;
// PBSE_SYSTEM if a file can't be read.
ifl::Reply status_accounting(Context& context, std::string_view extend);

// "object=configuration". Needs a plugin.
ifl::Reply status_configuration(Context& context, std::string_view extend);

// "object=diagnosis". The object's name selects a part, as described at pbs_statdiagnosis() in ifl/pbs_ifl.h.
// Errors: PBSE_PERM unless the requester is a manager or operator, or the part is "counters"; PBSE_IVALREQ
// for another part or an extend string.
ifl::Reply status_diagnosis(Context& context, std::string_view extend);

}  // namespace pbs::host
