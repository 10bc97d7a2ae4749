#include "server_plugin/plugin/requests/host_object.h"

#include <utility>

namespace pbs::plugin {

objects::Result<objects::Reply> manage_host_object(objects::Store& store, const ManagerRequest& request) {
    if (request.command.kind != objects::CommandKind::create) {
        return store.execute(request.command, request.who, request.now);
    }
    objects::ChangeSet changes;
    objects::Command command = request.command;
    command.changes.clear();
    if (store.snapshot()->find(command.type, command.object)) {
        command.kind = objects::CommandKind::remove;
        changes.commands.push_back(command);
    }
    command.kind = objects::CommandKind::create;
    changes.commands.push_back(command);
    if (!request.command.changes.empty()) {
        command.kind = objects::CommandKind::set;
        command.changes = request.command.changes;
        changes.commands.push_back(std::move(command));
    }
    return store.apply(changes, request.who, request.now);
}

}  // namespace pbs::plugin
