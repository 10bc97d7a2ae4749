// Shutdown (qterm). "Quick": running jobs go on, and the next start finds them. "Immediate": running jobs are
// ended, and rerunnable ones are queued again. "Delayed": rerunnable jobs are queued again, and the server
// waits for the ends of the others. Nothing is checkpointed.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {
namespace {

// Selects the bits of the request's number for the manner of the shutdown. The other bits say which other
// daemons to stop.
constexpr uint32_t kMannerMask = 0xf;

void end_or_requeue(Change& change, Job& job, bool immediate) {
    if (job.state == job_state::kExiting) return;
    if (job.attributes.boolean("Rerunable", true)) {
        advance(job, JobEvent::to_be_requeued, change.server().state, change.now());
        log_job(change, job,
                fmt::format("Job to be requeued in {} on PBS Server shutdown", job.queue_name.text()));
        kill_after(change, job);
    } else if (immediate) {
        abort_job(change, job, "Job aborted on PBS Server shutdown");
    }
}

}  // namespace

ifl::Reply shutdown(Context& context) {
    const auto& body = std::get<ifl::Shutdown>(context.request.body);
    if (auto ok = operators_only(context); !ok) return refuse(ok.error());
    // Refuse the bits for a secondary server, which doesn't exist. Ignore the bits for the scheduler and MOM,
    // which are parts of this process.
    if ((body.manner & (SHUT_WHO_SECDRY | SHUT_WHO_SECDONLY | SHUT_WHO_IDLESECDRY)) != 0)
        return ifl::Reply::error(PBSE_NOSUP,
                                 "No support for requested service: there is no secondary server");
    const uint32_t manner = body.manner & kMannerMask;
    if (manner > SHUT_QUICK) return ifl::Reply::error(PBSE_IVALREQ);
    Server& server = context.server;
    server.parts.log.write(LogEvent::system, LogClass::server, "Server",
                           fmt::format("Shutdown request from {}", requestor(context)));
    const bool immediate = manner == SHUT_IMMEDIATE;
    if (manner == SHUT_QUICK || (immediate && server.closing == Server::Closing::immediate)) {
        server.stopping = true;
        return ifl::Reply::ok();
    }
    Change change(server, context.now);
    for (const uint64_t handle : context.state().server_usage().jobs)
        end_or_requeue(change, change.job(*context.state().job(handle)), immediate);
    server.closing = immediate ? Server::Closing::immediate : Server::Closing::delayed;
    return reply_of(change.commit());
}

}  // namespace pbs::host
