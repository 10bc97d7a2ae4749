// StatusHook: there are no hooks. Asked for one of them by name, it isn't known.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

ifl::Reply status_nothing(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (!body.object.empty() && body.object.front() != '@') return ifl::Reply::error(PBSE_HOOKERROR);
    ifl::Reply reply;
    reply.body = ifl::StatusReply{};
    return reply;
}

}  // namespace pbs::host
