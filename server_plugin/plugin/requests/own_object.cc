// policy, time_window and fs_group objects, which only the plugin's store has.
#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_own_object(objects::Store& store, const ManagerRequest& request) {
    return store.stage(request.command, request.who, request.now);
}

}  // namespace pbs::plugin
