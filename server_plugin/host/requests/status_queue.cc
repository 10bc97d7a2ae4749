// StatusQue: one queue or all.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

ifl::Reply status_queue(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (auto bad = unknown_attribute(context, PBS_OBJ_QUEUE, body.wanted)) return *bad;
    const View view{body.wanted, read_rights(context.who)};
    ifl::StatusReply status;
    const std::string_view name = std::string_view(body.object).substr(0, body.object.find('@'));
    if (name.empty()) {
        for (const auto& [queue_name, queue] : context.state().queues())
            status.objects.push_back({PBS_OBJ_QUEUE, queue_name, describe(queue, context, view)});
    } else {
        const Queue* queue = context.state().queue(name);
        if (queue == nullptr) return ifl::Reply::error(PBSE_UNKQUE);
        status.objects.push_back({PBS_OBJ_QUEUE, queue->name, describe(*queue, context, view)});
    }
    ifl::Reply reply;
    reply.body = std::move(status);
    return reply;
}

}  // namespace pbs::host
