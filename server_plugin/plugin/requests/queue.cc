// The attribute time_window of queues. The host makes and deletes queues. A new queue inherits nothing from
// an earlier queue of the same name. A queue that a policy names isn't deleted.
#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_queue(objects::Store& store, const ManagerRequest& request) {
    return store.execute(request.command, request.who, request.now);
}

}  // namespace pbs::plugin
