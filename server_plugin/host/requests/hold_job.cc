// HoldJob: adds user, operator and system holds. A running job can't be checkpointed here, so it only gets
// the hold for the time when it is queued again.
#include "server_plugin/host/requests/holds.h"

namespace pbs::host {

ifl::Reply hold_job(Context& context) {
    return change_holds(context, {.op = ifl::Op::incr, .done = "set"});
}

}  // namespace pbs::host
