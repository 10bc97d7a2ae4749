// A scheduler's policy slots (PP-748, interfaces 1 and 5). Attributes that are only shown can't be set.
#include <fmt/format.h>

#include "server_plugin/plugin/requests/manager.h"
#include "server_plugin/plugin/requests/show.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_sched(objects::Store& store, const ManagerRequest& request) {
    for (const objects::AttributeChange& change : request.command.changes) {
        if (is_shown_only(objects::ObjectType::sched, change.name)) {
            return objects::fail(objects::Code::kReadOnly,
                                 fmt::format("{} of sched {} is shown, it can't be set or unset", change.name,
                                             request.command.object));
        }
    }
    return store.execute(request.command, request.who, request.now);
}

}  // namespace pbs::plugin
