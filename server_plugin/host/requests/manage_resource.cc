// Manager requests about the definitions of resources, which have a type and flags.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

struct Definition {
    std::string type;
    std::string flag;
};

Managed<> read(const Management& request, Definition& definition) {
    for (size_t i = 0; i < request.own.size(); ++i) {
        const ifl::Attribute& attribute = request.own[i];
        const bool unset = request.command == PBS_CMD_UNSET;
        if (same_name(attribute.name, "type") && !unset) {
            definition.type = attribute.value;
        } else if (same_name(attribute.name, "flag")) {
            definition.flag = unset ? std::string() : attribute.value;
        } else {
            return tl::unexpected(Refusal{
                {PBSE_BADATVAL,
                 fmt::format("Illegal attribute {} of a resource: expected type or flag", attribute.name)},
                i});
        }
    }
    return {};
}

// Warns that flag f has the same effect as flag n: a chunk lies on one vnode, and takes all that it requests
// from that vnode.
void warn_of_flag(Management& request, const Resource& resource) {
    if ((resource.flags & resource_first_node_sum) != 0)
        add_warning(request, fmt::format("resource {}: flag f has no effect: every chunk takes of it, as "
                                         "with flag n",
                                         resource.name));
}

// Refuses to change or remove the resource's definition while something has a value of the resource. The same
// definition again, as from a repeated migration, is no change.
ifl::Reply check_unused(const Management& request, const Resource& is,
                        const std::optional<Resource>& becomes) {
    if (becomes && same_definition(is, *becomes)) return {};
    const std::string user = user_of_resource(request.context.state(), is);
    if (user.empty()) return {};
    return ifl::Reply::error(PBSE_RESCBUSY, fmt::format("Resource busy: {} uses {}", user, is.name));
}

void warn(Management& request, const Resource& resource) {
    warn_of_flag(request, resource);
    if (const std::string note = note_for_policies(resource); !note.empty()) add_warning(request, note);
}

ifl::Reply create(Management& request, Change& change) {
    const ResourceTable& resources = request.context.state().resources;
    Definition definition;
    if (auto done = read(request, definition); !done) return refuse(request, done.error());
    auto resource = resources.check(request.body.object, definition.type, definition.flag);
    if (!resource) return refuse(resource.error());
    if (const Resource* there = resources.find(request.body.object)) {
        if (!there->built_in || !there->for_policies) return ifl::Reply::error(PBSE_DUPLIST);
        resource->name = there->name;
        if (auto busy = check_unused(request, *there, *resource); busy.code != 0) return busy;
    }
    warn(request, *resource);
    std::string name = resource->name;
    change.save_resource(std::move(*resource));
    return finish(request, change, name);
}

ifl::Reply redefine(Management& request, Change& change, const Resource& current) {
    Definition definition{std::string(current.type_text()), current.flag_text()};
    if (auto done = read(request, definition); !done) return refuse(request, done.error());
    auto resource = request.context.state().resources.check(current.name, definition.type, definition.flag);
    if (!resource) return refuse(resource.error());
    if (auto busy = check_unused(request, current, *resource); busy.code != 0) return busy;
    warn(request, *resource);
    change.save_resource(std::move(*resource));
    return finish(request, change, current.name);
}

}  // namespace

ifl::Reply manage_resource(Management& request) {
    if (!request.context.who.manager()) return ifl::Reply::error(PBSE_PERM);
    Change change(request.context.server, request.context.now);
    if (request.command == PBS_CMD_CREATE) return create(request, change);
    const Resource* current = request.context.state().resources.find(request.body.object);
    if (current == nullptr) return ifl::Reply::error(PBSE_UNKRESC);
    if (current->built_in && (!current->for_policies || request.command == PBS_CMD_DELETE))
        return ifl::Reply::error(PBSE_ATTRRO, fmt::format("Resource {} is built in", current->name));
    if (request.command != PBS_CMD_DELETE) return redefine(request, change, *current);
    if (auto busy = check_unused(request, *current, resource_for_policies(current->name)); busy.code != 0)
        return busy;
    change.remove_resource(current->name);
    return finish(request, change, std::string(current->name));
}

}  // namespace pbs::host
