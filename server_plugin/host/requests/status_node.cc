// StatusNode: one vnode or all.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

ifl::Reply status_node(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (auto bad = unknown_attribute(context, PBS_OBJ_NODE, body.wanted)) return *bad;
    const View view{body.wanted, read_rights(context.who)};
    ifl::StatusReply status;
    if (body.object.empty() || body.object.front() == '@') {
        if (context.state().nodes().empty()) return ifl::Reply::error(PBSE_NONODES);
        for (const auto& [name, node] : context.state().nodes())
            status.objects.push_back({PBS_OBJ_NODE, name, describe(node, context, view)});
    } else {
        const Node* node = context.state().node(body.object);
        if (node == nullptr) return ifl::Reply::error(PBSE_UNKNODE);
        status.objects.push_back({PBS_OBJ_NODE, node->name, describe(*node, context, view)});
    }
    ifl::Reply reply;
    reply.body = std::move(status);
    return reply;
}

}  // namespace pbs::host
