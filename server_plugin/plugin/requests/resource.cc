// Resources are the server's. Formulas, sort keys and lists of policies and fs_groups name them, and hold
// them in place.
#include <fmt/format.h>

#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<void> manage_resource(const objects::Store& store, int32_t command, std::string_view name) {
    if (command != PBS_CMD_DELETE) {
        return objects::fail(objects::Code::invalid_request,
                             fmt::format("resource {}: expected a delete, found command {}", name, command));
    }
    return store.check_resource_unused(name);
}

}  // namespace pbs::plugin
