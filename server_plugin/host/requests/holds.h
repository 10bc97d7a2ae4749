// The hold types of a HoldJob or ReleaseJob request, with who may change which.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// u may be changed by the job's owner, o by operators, s by managers: PBSE_PERM otherwise. Without an
// attribute: u.
Result<ifl::Attribute> hold_change(const Context& context, const ifl::Attributes& attributes, ifl::Op op);
// What tells HoldJob and ReleaseJob apart.
struct HoldsRequest {
    ifl::Op op = ifl::Op::incr;
    bool of_exiting = false;        // also of a job that is at its end
    bool may_start = false;         // jobs may start by it: a cycle follows
    std::string_view done = "set";  // for the log
};
// Changes the holds of the job that the request names.
ifl::Reply change_holds(Context& context, const HoldsRequest& request);

Result<void> may_change_holds(const Identity& who, std::string_view types);

}  // namespace pbs::host
