// ReleaseJob: takes holds off.
#include "server_plugin/host/requests/holds.h"

namespace pbs::host {

ifl::Reply release_job(Context& context) {
    return change_holds(context,
                        {.op = ifl::Op::decr, .of_exiting = true, .may_start = true, .done = "released"});
}

}  // namespace pbs::host
