// Rerun: ends a running job and puts it back into its queue. With "force" in the extend string also one that
// isn't rerunnable.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/executor.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

ifl::Reply rerun_job(Context& context) {
    const auto& body = std::get<ifl::JobId>(context.request.body);
    auto current = live_job(context, body.job);
    if (!current) return refuse(current.error());
    if (auto ok = operators_only(context); !ok) return refuse(ok.error());
    if ((*current)->state != job_state::running && (*current)->state != job_state::suspended)
        return ifl::Reply::error(PBSE_BADSTATE);
    if (!(*current)->attributes.boolean("Rerunable", true) && context.request.extend != "force")
        return ifl::Reply::error(PBSE_NORERUN);

    Change change(context.server, context.now);
    Job& job = change.job(**current);
    const Job::AtEnd before = job.at_end;
    job.at_end = Job::AtEnd::requeue;
    job.mtime = context.now;
    const uint64_t handle = job.handle;
    log_job(change, job, fmt::format("Job Rerun at request of {}", requestor(context)));
    if (auto done = change.commit(); !done) return refuse(done.error());
    auto signalled = context.server.parts.executor.signal(run_id(*context.state().job(handle)), 9);
    if (!signalled) {
        // It goes on, and its own end is not to start it again.
        Change back(context.server, context.now);
        back.job(*context.state().job(handle)).at_end = before;
        if (auto done = back.commit(); !done) return refuse(done.error());
    }
    return reply_of(signalled);
}

}  // namespace pbs::host
