// LocateJob: returns the server that has the job.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

ifl::Reply locate_job(Context& context) {
    const auto& body = std::get<ifl::JobId>(context.request.body);
    const Job* job = context.state().job(body.job);
    if (job == nullptr) return ifl::Reply::error(PBSE_UNKJOBID);
    if (job->history()) return ifl::Reply::error(PBSE_HISTJOBID);
    ifl::Reply reply;
    reply.body = ifl::LocateReply{context.state().server_name};
    return reply;
}

}  // namespace pbs::host
