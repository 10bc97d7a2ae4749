// The hold types of a request, with who may change which.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// The change of holds that the request asks for; without an attribute: u. The job's owner may change u,
// operators o, managers s: PBSE_PERM otherwise.
Result<ifl::Attribute> hold_change(const Context& context, const ifl::Attributes& attributes, ifl::Op op);

Result<void> may_change_holds(const Identity& who, std::string_view types);

}  // namespace pbs::host
