// StatusNode: one vnode or all.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

ifl::Reply status_node(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (auto bad = unknown_attribute(context, PBS_OBJ_NODE, body.wanted)) return *bad;
    const State& state = context.state();
    if (body.object.empty() || body.object.front() == '@') {
        if (state.nodes().empty()) return ifl::Reply::error(PBSE_NONODES);
        context.rest = steps_through(context, PBS_OBJ_NODE, &State::nodes);
        return {};
    }
    const Node* node = state.node(body.object);
    if (node == nullptr) return ifl::Reply::error(PBSE_UNKNODE);
    return one_object(PBS_OBJ_NODE, node->name, describe(*node, context, view_of(context)));
}

}  // namespace pbs::host
