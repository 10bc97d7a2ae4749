// MessageJob: writes a line into the output of a running job.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/executor.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/launch.h"
#include "server_plugin/host/message.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

ifl::Reply message_job(Context& context) {
    const auto& body = std::get<ifl::MessageJob>(context.request.body);
    auto job = own_job(context, body.job);
    if (!job) return refuse(job.error());
    if ((*job)->state != job_state::running) return ifl::Reply::error(PBSE_BADSTATE);
    if (body.text.empty() || body.file > 3) return ifl::Reply::error(PBSE_IVALREQ);
    // 1 is stdout, 2 stderr, 3 both; the choice left to the server is stderr, as in PBS.
    if ((body.file & 1U) != 0)
        if (auto done = write_message(context.server, **job, 'o', body.text); !done)
            return refuse(done.error());
    if (body.file == 0 || (body.file & 2U) != 0)
        if (auto done = write_message(context.server, **job, 'e', body.text); !done)
            return refuse(done.error());
    return ifl::Reply::ok();
}

}  // namespace pbs::host
