// Manager requests for nodes. Nodes belong to the server; the plugin only writes their changes into the
// history.
#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_node(objects::Store& store, const ManagerRequest& request) {
    return store.execute(request.command, request.who, request.now);
}

}  // namespace pbs::plugin
