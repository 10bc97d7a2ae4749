// SignalJob: sends a signal, by name or number, to a job. "suspend" and "resume" stop and continue the job.
#include <csignal>

#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {
namespace {

// Suspends or resumes a job for an operator. A suspended job keeps its resources, because its processes are
// stopped but stay in memory. A job that a preemption has suspended can't be resumed here: only the scheduler
// does that.
Result<void> suspend_or_resume(Context& context, const Job& current, bool suspend) {
    if (!context.who.operator_()) return fail(PBSE_PERM);
    const JobEvent event = suspend ? JobEvent::suspended : JobEvent::resumed;
    if (!may_happen(current, event)) return fail(PBSE_BADSTATE);
    Executor& executor = context.server.parts.executor;
    if (auto sent = suspend ? executor.suspend(run_id(current)) : executor.resume(run_id(current)); !sent)
        return sent;
    Change change(context.server, context.now);
    Job& job = change.job(current);
    advance(job, event, context.state(), context.now);
    return change.commit();
}

bool is_suspend(std::string_view signal) {
    return signal == "suspend" || signal == "admin-suspend";
}
bool is_resume(std::string_view signal) {
    return signal == "resume" || signal == "admin-resume";
}

Result<void> signal_one(Context& context, const Job& job, const std::string& signal) {
    context.server.parts.log.job(job.id,
                                 fmt::format("job signaled with {} by {}", signal, requestor(context)));
    if (is_suspend(signal) || is_resume(signal)) return suspend_or_resume(context, job, is_suspend(signal));
    const auto number = parse_signal(signal);
    if (!number) return tl::unexpected(number.error());
    return context.server.parts.executor.signal(run_id(job), *number);
}

}  // namespace

ifl::Reply signal_job(Context& context) {
    const auto& body = std::get<ifl::SignalJob>(context.request.body);
    const auto target = own_target(context, body.job);
    if (!target) return refuse(target.error());
    const Job& job = *target->job;
    if (target->single && !(job.is_array() && job.subjobs->submitted.contains(target->indices[0].first)))
        return ifl::Reply::error(PBSE_UNKJOBID);
    auto jobs = running_of(context.state(), *target);
    if (job.is_array() ? !target->subjobs() && job.state != job_state::kBegun : !job.running())
        return ifl::Reply::error(PBSE_BADSTATE);
    if (target->subjobs() && jobs.empty()) return ifl::Reply::error(PBSE_BADSTATE);
    if (job.is_array() && !target->single) {
        // Skip subjobs that are already in the wanted state.
        std::erase_if(jobs, [&](const Job* one) {
            const bool suspended = one->state == job_state::kSuspended;
            return one->state == job_state::kExiting || (is_suspend(body.signal) && suspended) ||
                   (is_resume(body.signal) && !suspended);
        });
        if (target->subjobs() && jobs.empty()) return ifl::Reply::error(PBSE_BADSTATE);
    }
    Result<void> done;
    for (const Job* one : jobs)
        if (auto sent = signal_one(context, *one, body.signal); !sent && done) done = sent;
    return reply_of(done);
}

}  // namespace pbs::host
