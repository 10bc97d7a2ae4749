// StatusSvr, StatusQue, StatusNode and StatusHook: show the server, one or all queues, one or all vnodes, or
// hooks.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

ifl::Reply status_server(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (auto bad = unknown_attribute(context, PBS_OBJ_SERVER, body.wanted)) return *bad;
    return one_object(PBS_OBJ_SERVER, context.state().server_name,
                      describe_server(context, view_of(context)));
}

ifl::Reply status_queue(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (auto bad = unknown_attribute(context, PBS_OBJ_QUEUE, body.wanted)) return *bad;
    const std::string_view name = std::string_view(body.object).substr(0, body.object.find('@'));
    if (name.empty()) {
        context.rest = steps_through(context, PBS_OBJ_QUEUE, &State::queues);
        return {};
    }
    const Queue* queue = context.state().queue(name);
    if (queue == nullptr) return ifl::Reply::error(PBSE_UNKQUE);
    return one_object(PBS_OBJ_QUEUE, queue->name, describe(*queue, context, view_of(context)));
}

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

// Answers a request for the status of hooks. There are none, so the name of a hook is an error.
ifl::Reply status_nothing(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (!body.object.empty() && body.object.front() != '@') return ifl::Reply::error(PBSE_HOOKERROR);
    ifl::Reply reply;
    reply.body = ifl::StatusReply{};
    return reply;
}

}  // namespace pbs::host
