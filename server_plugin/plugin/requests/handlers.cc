// The handlers of Manager requests, except that for schedulers (sched.cc).
#include <fmt/format.h>

#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

objects::Result<objects::Reply> manage_own_object(objects::Store& store, const ManagerRequest& request) {
    return store.stage(request.command, request.who, request.now);
}

objects::Result<objects::Reply> manage_host_object(objects::Store& store, const ManagerRequest& request) {
    return store.execute(request.command, request.who, request.now);
}

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

objects::Result<objects::Reply> manage_server(objects::Store& store, const ManagerRequest& request) {
    if (request.command.kind != objects::CommandKind::set &&
        request.command.kind != objects::CommandKind::unset) {
        return objects::fail(objects::Code::invalid_request, "the server object can't be created or deleted");
    }
    objects::Command command = request.command;
    for (auto change = command.changes.begin(); change != command.changes.end(); ++change) {
        if (change->name != "job_sort_formula") continue;
        if (change->operation != objects::Operation::unset) {
            if (const auto formula = store.check_job_sort_formula(change->value); !formula)
                return tl::unexpected(formula.error());
        }
        command.changes.erase(change);
        if (command.changes.empty() && command.host.empty())
            return objects::Reply{.snapshot = store.snapshot()};
        break;
    }
    return store.execute(command, request.who, request.now);
}

}  // namespace pbs::plugin
