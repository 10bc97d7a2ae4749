// StatusRsc: shows the definition of one resource or of all. With "p" in the extend string, type and flags
// are shown as PBS's numbers, which pbs_statrsc passes to clients that compute a job's select.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// Returns PBS's own number for a resource's type.
int type_number(Type type) {
    switch (type) {
        case Type::integer:
        case Type::duration:
            return 1;
        case Type::text:
            return 3;
        case Type::size:
            return 5;
        case Type::list:
            return 4;
        case Type::boolean:
            return 11;
        case Type::real:
            return 14;
        default:
            return 3;
    }
}

uint32_t flag_number(uint32_t flags) {
    uint32_t number = 0;
    if ((flags & resource_invisible) == 0) number |= 0x1;
    if ((flags & (resource_invisible | resource_read_only)) == 0) number |= 0x2;
    number |= 0x4 | 0x8 | 0x10 | 0x20;  // operators and managers read and write
    if ((flags & resource_execution) != 0) number |= 0x400;
    if ((flags & resource_queue_sum) != 0) number |= 0x4000;
    if ((flags & resource_node_sum) != 0) number |= 0x8000;
    if ((flags & resource_first_node_sum) != 0) number |= 0x10000;
    if ((flags & resource_host) != 0) number |= 0x20000;
    return number;
}

ifl::ObjectStatus describe(const Resource& resource, bool numbers) {
    ifl::ObjectStatus object;
    object.type = PBS_OBJ_RESOURCE;
    object.name = resource.name;
    ifl::Attribute type;
    type.name = "type";
    type.value = numbers ? fmt::format("{}", type_number(resource.type)) : std::string(resource.type_text());
    ifl::Attribute flag;
    flag.name = "flag";
    flag.value = numbers ? fmt::format("{}", flag_number(resource.flags)) : resource.flag_text();
    object.attributes = {std::move(type), std::move(flag)};
    return object;
}

// Makes an object that separates PBS's own resources from the site's: qmgr prints only the resources that
// come after this object.
ifl::ObjectStatus marker() {
    Resource none;
    none.name = "|unknown|";
    return describe(none, true);
}

}  // namespace

ifl::Reply status_resource(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    const bool numbers = context.request.extend.find('p') != std::string::npos;
    ifl::StatusReply status;
    if (body.object.empty() || body.object.front() == '@') {
        const auto show = [&](bool built_in) {
            for (const Resource* resource : context.state().resources.all())
                if (resource->built_in == built_in &&
                    ((resource->flags & resource_invisible) == 0 || context.who.operator_()))
                    status.objects.push_back(describe(*resource, numbers));
        };
        show(true);
        if (numbers) status.objects.push_back(marker());
        show(false);
    } else {
        const Resource* resource = context.state().resources.find(body.object);
        if (resource == nullptr) return ifl::Reply::error(PBSE_UNKRESC);
        if ((resource->flags & resource_invisible) != 0 && !context.who.operator_())
            return ifl::Reply::error(PBSE_PERM);
        status.objects.push_back(describe(*resource, numbers));
    }
    ifl::Reply reply;
    reply.body = std::move(status);
    return reply;
}

}  // namespace pbs::host
