// StatusSvr: the server itself.
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

}  // namespace pbs::host
