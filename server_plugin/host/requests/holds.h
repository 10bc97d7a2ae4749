// The hold types of a request, with who may change which.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// u may be changed by the job's owner, o by operators, s by managers: PBSE_PERM otherwise. Without an
// attribute: u.
Result<ifl::Attribute> hold_change(const Context& context, const ifl::Attributes& attributes, ifl::Op op);

Result<void> may_change_holds(const Identity& who, std::string_view types);

}  // namespace pbs::host
