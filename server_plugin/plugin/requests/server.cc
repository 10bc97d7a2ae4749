// Manager requests for the server: its non_work_days. Its deprecated job_sort_formula belongs to the host,
// and is only checked here. The one server object can't be created or deleted.
#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

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
