// A queue's time_window. The host makes and deletes queues; a queue that is made has nothing of one of the
// same name that was there before. A queue that a policy names isn't deleted.
#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_queue(objects::Store& store, const ManagerRequest& request) {
    return store.execute(request.command, request.who, request.now);
}

}  // namespace pbs::plugin
