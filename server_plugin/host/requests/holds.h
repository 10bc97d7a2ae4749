// The hold types of a request, and the rights to change them.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// The requested change of holds; without an attribute: u. PBSE_PERM unless the requester may change these
// types: the job's owner u, operators o, managers s.
Result<ifl::Attribute> hold_change(const Context& context, const ifl::Attributes& attributes, ifl::Op op);

Result<void> may_change_holds(const Identity& who, std::string_view types);

}  // namespace pbs::host
