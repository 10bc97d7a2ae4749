// Manager requests for resources. Resources belong to the server. One that a policy, fs_group or quota names
// can't be deleted.
#include <fmt/format.h>

#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_resource(objects::Store& store, const ManagerRequest& request) {
    const objects::Command& command = request.command;
    if (!command.host.empty()) return store.execute(command, request.who, request.now);
    if (command.kind != objects::CommandKind::remove) {
        return objects::fail(objects::Code::invalid_request,
                             fmt::format("resource {}: expected a delete or what the server changes, found "
                                         "neither",
                                         command.object));
    }
    if (const auto unused = store.check_resource_unused(command.object); !unused)
        return tl::unexpected(unused.error());
    return objects::Reply{.snapshot = store.snapshot()};
}

}  // namespace pbs::plugin
