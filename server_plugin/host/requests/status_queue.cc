// StatusQue: one queue or all.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

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

}  // namespace pbs::host
