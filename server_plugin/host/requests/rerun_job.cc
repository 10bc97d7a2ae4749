// Rerun: ends a running job and puts it back into its queue. With "force" in the extend string, does that
// even if the job isn't rerunnable. For an array, also queues all ended subjobs again.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

Result<void> rerun_one(Context& context, const Job& current) {
    if (current.state != job_state::kRunning && current.state != job_state::kSuspended)
        return fail(PBSE_BADSTATE);
    if (!current.attributes.boolean("Rerunable", true) && context.request.extend != "force")
        return fail(PBSE_NORERUN);

    Change change(context.server, context.now);
    Job& job = change.job(current);
    const bool was_asked = job.at_end == Job::AtEnd::requeue;
    advance(job, JobEvent::to_be_requeued, context.state(), context.now);
    const uint64_t handle = job.handle;
    log_job(change, job, fmt::format("Job Rerun at request of {}", requestor(context)));
    if (auto done = change.commit(); !done) return done;
    auto signalled = kill_job(context.server, *context.state().job(handle));
    if (!signalled && !was_asked) {
        // The processes couldn't be ended, so the job goes on. Undo the mark that the job is to be queued
        // again, because it is to end as usual.
        Change back(context.server, context.now);
        advance(back.job(*context.state().job(handle)), JobEvent::to_be_ended, context.state(), context.now);
        if (auto done = back.commit(); !done) return done;
    }
    return signalled;
}

Result<void> rerun_array(Context& context, const Job& current) {
    if (current.state != job_state::kBegun) return fail(PBSE_BADSTATE);
    Change change(context.server, context.now);
    requeue_ended(change, change.job(current));
    log_job(change, current, fmt::format("Job Rerun at request of {}", requestor(context)));
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    return change.commit();
}

}  // namespace

ifl::Reply rerun_job(Context& context) {
    const auto& body = std::get<ifl::JobId>(context.request.body);
    const auto target = target_of(context.state(), body.job);
    if (!target) return refuse(target.error());
    const Job& job = *target->job;
    if (job.history()) return ifl::Reply::error(PBSE_HISTJOBID);
    if (auto ok = operators_only(context); !ok) return refuse(ok.error());
    if (!job.is_array()) return reply_of(target->subjobs() ? fail(PBSE_UNKJOBID) : rerun_one(context, job));
    if (target->single && !job.subjobs->submitted.contains(target->indices[0].first))
        return ifl::Reply::error(PBSE_IVALREQ);
    auto jobs = running_of(context.state(), *target);
    if (!target->single)
        std::erase_if(jobs, [](const Job* one) { return one->state == job_state::kExiting; });
    if (target->subjobs() && jobs.empty()) return ifl::Reply::error(PBSE_BADSTATE);
    Result<void> done;
    if (!target->subjobs()) done = rerun_array(context, job);
    for (const Job* one : jobs)
        if (done) done = rerun_one(context, *one);
    return reply_of(done);
}

}  // namespace pbs::host
