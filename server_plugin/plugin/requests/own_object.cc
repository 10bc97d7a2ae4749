// Manager requests for objects that only the plugin's store has: policies, time_windows, fs_groups and
// quotas.
#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_own_object(objects::Store& store, const ManagerRequest& request) {
    return store.stage(request.command, request.who, request.now);
}

}  // namespace pbs::plugin
