// StatusSched with "object=registration": registers the client's program as the scheduler of a scheduler
// object whose policies have the algorithm external.
#include <fmt/format.h>

#include <string>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/status_scheduler.h"

namespace pbs::host {

ifl::Reply register_scheduler(Context& context, std::string_view extend) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (!context.who.manager()) return ifl::Reply::error(PBSE_PERM);
    if (!extend.empty() || !body.wanted.empty())
        return ifl::Reply::error(PBSE_IVALREQ, "registration: expected no attributes and no options");
    const std::string sched = body.object.empty() ? "default" : body.object;
    if (context.state().sched(sched) == nullptr) return ifl::Reply::error(PBSE_UNKSCHED);
    ifl::Reply reply;
    reply.body = ifl::StatusReply{};
    const auto added = context.server.registrations.add(sched, {requestor(context), context.now},
                                                        context.session.registered[sched]);
    if (!added) return refuse(added.error());
    if (!*added) return reply;
    context.server.parts.log.write(LogEvent::sched, LogClass::sched, sched,
                                   fmt::format("{} has registered as the scheduler", requestor(context)));
    return reply;
}

}  // namespace pbs::host
