// The server's non_work_days. There is one server object, and it is neither created nor deleted.
#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_server(objects::Store& store, const ManagerRequest& request) {
    if (request.command.kind != objects::CommandKind::set &&
        request.command.kind != objects::CommandKind::unset) {
        return objects::fail(objects::Code::invalid_request, "the server object can't be created or deleted");
    }
    return store.execute(request.command, request.who, request.now);
}

}  // namespace pbs::plugin
