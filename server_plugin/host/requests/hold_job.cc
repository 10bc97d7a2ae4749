// HoldJob: adds user, operator and system holds. A running job can't be checkpointed here, so it only gets
// the hold for the time when it is queued again.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/holds.h"

namespace pbs::host {

ifl::Reply hold_job(Context& context) {
    const auto& body = std::get<ifl::Manage>(context.request.body);
    auto current = own_job(context, body.object);
    if (!current) return refuse(current.error());
    auto change_of_hold = hold_change(context, body.attributes, ifl::Op::incr);
    if (!change_of_hold) return refuse(change_of_hold.error());
    if ((*current)->state == job_state::exiting) return ifl::Reply::error(PBSE_BADSTATE);

    Change change(context.server, context.now);
    Job& job = change.job(**current);
    static const AttributeDef& holds = *job_table().find("Hold_Types");
    if (auto set = apply_change(job.attributes, holds, *change_of_hold, context.state().resources); !set)
        return refuse(set.error());
    job.mtime = context.now;
    settle_state(job, context.state(), context.now);
    log_job(change, job,
            fmt::format("Holds {} set at request of {}", change_of_hold->value, requestor(context)));
    return reply_of(change.commit());
}

}  // namespace pbs::host
