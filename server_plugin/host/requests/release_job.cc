// ReleaseJob: takes holds off.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/holds.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

ifl::Reply release_job(Context& context) {
    const auto& body = std::get<ifl::Manage>(context.request.body);
    auto current = own_job(context, body.object);
    if (!current) return refuse(current.error());
    auto change_of_hold = hold_change(context, body.attributes, ifl::Op::decr);
    if (!change_of_hold) return refuse(change_of_hold.error());

    Change change(context.server, context.now);
    Job& job = change.job(**current);
    static const AttributeDef& holds = *job_table().find("Hold_Types");
    if (auto set = apply_change(job.attributes, holds, *change_of_hold, context.state().resources); !set)
        return refuse(set.error());
    job.mtime = context.now;
    settle_state(job, context.state(), context.now);
    log_job(change, job,
            fmt::format("Holds {} released at request of {}", change_of_hold->value, requestor(context)));
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    return reply_of(change.commit());
}

}  // namespace pbs::host
