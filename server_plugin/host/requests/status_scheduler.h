// StatusSched requests that ask for something else, by an extend string that begins with "object=". `extend`
// is the rest of it.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// "object=accounting", as pbs_stataccounting() in ifl/pbs_ifl.h says. Errors: PBSE_PERM for whoever is no
// manager or operator, PBSE_IVALREQ for a day without records or another extend string, PBSE_SYSTEM when a
// file can't be read.
ifl::Reply status_accounting(Context& context, std::string_view extend);

// "object=configuration". Needs a plugin.
ifl::Reply status_configuration(Context& context, std::string_view extend);

// "object=diagnosis". The object's name says which part, as pbs_statdiagnosis() in ifl/pbs_ifl.h says.
// Errors: PBSE_PERM for whoever is no manager or operator, but for the part "counters"; PBSE_IVALREQ for
// another part or an extend string.
ifl::Reply status_diagnosis(Context& context, std::string_view extend);

}  // namespace pbs::host
