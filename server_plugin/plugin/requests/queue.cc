// Manager requests for queues: their attribute time_window. The host makes and deletes queues. A new queue
// inherits nothing from an earlier queue of its name. A queue that a policy names can't be deleted.
#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_queue(objects::Store& store, const ManagerRequest& request) {
    return store.execute(request.command, request.who, request.now);
}

}  // namespace pbs::plugin
