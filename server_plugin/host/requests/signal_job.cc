// SignalJob: a signal by name or number; "suspend" and "resume" stop and continue the job.
#include <csignal>

#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/executor.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {
namespace {

// A suspended job keeps its resources here: its processes are stopped, not swapped out.
Result<void> suspend_or_resume(Context& context, const Job& current, bool suspend) {
    if (!context.who.operator_()) return fail(PBSE_PERM);
    const char from = suspend ? job_state::running : job_state::suspended;
    if (current.state != from) return fail(PBSE_BADSTATE);
    if (auto sent = context.server.parts.executor.signal(run_id(current), suspend ? SIGSTOP : SIGCONT); !sent)
        return sent;
    Change change(context.server, context.now);
    Job& job = change.job(current);
    job.state = suspend ? job_state::suspended : job_state::running;
    job.substate = suspend ? substate::suspended : substate::running;
    job.mtime = context.now;
    return change.commit();
}

}  // namespace

ifl::Reply signal_job(Context& context) {
    const auto& body = std::get<ifl::SignalJob>(context.request.body);
    auto job = own_job(context, body.job);
    if (!job) return refuse(job.error());
    if (!(*job)->running()) return ifl::Reply::error(PBSE_BADSTATE);
    const bool suspend = body.signal == "suspend" || body.signal == "admin-suspend";
    const bool resume = body.signal == "resume" || body.signal == "admin-resume";
    context.server.parts.log.job((*job)->id,
                                 fmt::format("job signaled with {} by {}", body.signal, requestor(context)));
    if (suspend || resume) return reply_of(suspend_or_resume(context, **job, suspend));
    auto number = parse_signal(body.signal);
    if (!number) return refuse(number.error());
    return reply_of(context.server.parts.executor.signal(run_id(**job), *number));
}

}  // namespace pbs::host
