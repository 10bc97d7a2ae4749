// A queue's time_window.
#include "server_plugin/plugin/requests/host_object.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_queue(objects::Store& store, const ManagerRequest& request) {
    return manage_host_object(store, request);
}

}  // namespace pbs::plugin
