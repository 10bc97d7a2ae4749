#include "server_plugin/plugin/requests/status.h"

#include <algorithm>
#include <span>

#include "ifl/pbs_error.h"
#include "objects/commands.h"
#include "server_plugin/plugin/requests/configuration.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

bool is_own(int32_t type) {
    const auto own = objects::own_types();
    return std::any_of(own.begin(), own.end(),
                       [&](objects::ObjectType t) { return static_cast<int32_t>(t) == type; });
}

void add(Reply& reply, const objects::ObjectStatus& object) {
    std::vector<ShownAttribute> shown;
    shown.reserve(object.attributes.size());
    for (const objects::AttributeStatus& attribute : object.attributes) {
        shown.push_back({attribute.attribute->name, attribute.value, {}});
    }
    reply.object(static_cast<int32_t>(object.type), object.name, shown);
}

}  // namespace

int32_t status(State& state, const pbs_status_request* request, Reply reply) {
    if (!request || request->size < sizeof(pbs_status_request)) {
        return reply.error(PBSE_INTERNAL, "the server speaks an older plugin interface");
    }
    if (!state.store) return reply.error(PBSE_INTERNAL, "the policy store isn't open");
    if (request->object_type == PBS_OBJ_CONFIGURATION) return status_configuration(state, *request, reply);
    if (request->object_type == PBS_OBJ_HISTORY) return status_history(state, *request, reply);
    if (!is_own(request->object_type) || (request->wanted_count != 0 && !request->wanted)) {
        return reply.error(PBSE_IVALREQ, {});
    }
    std::vector<std::string> wanted;
    for (const pbs_str& name : std::span(request->wanted, request->wanted_count))
        wanted.emplace_back(view(name));
    const auto described =
        objects::status(*state.store->snapshot(), static_cast<objects::ObjectType>(request->object_type),
                        view(request->object_name), wanted);
    if (!described)
        return reply.error(static_cast<int32_t>(described.error().code), described.error().message);
    for (const objects::ObjectStatus& object : *described) add(reply, object);
    return PBSE_NONE;
}

}  // namespace pbs::plugin
