// Reads the hold types of a request, and checks the requester's rights to change them.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Returns the change of Hold_Types that the request demands. If the request names no types, it is a change of
// u. PBSE_PERM unless the requester may change these types: u as the job's owner, o as an operator, s as a
// manager.
Result<ifl::Attribute> hold_change(const Context& context, const ifl::Attributes& attributes, ifl::Op op);

Result<void> may_change_holds(const Identity& who, std::string_view types);

}  // namespace pbs::host
