// StatusSched with "object=configuration": shows the present configuration, or that of a revision, as a
// document (pbs_config(8)). The plugin writes the document, and the server adds its own part.
#include <algorithm>

#include "ifl/pbs_error.h"
#include "server_plugin/host/policy/config_document.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/status_scheduler.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// Returns the value of a key in an extend string such as "revision=12;part=policies"; empty: the key is
// missing. If the key comes several times, its last value counts, as in the plugin.
std::string_view value_in(std::string_view extend, std::string_view key) {
    std::string_view value;
    while (!extend.empty()) {
        const std::string_view part = extend.substr(0, extend.find(';'));
        extend.remove_prefix(std::min(part.size() + 1, extend.size()));
        if (part.starts_with(key) && part.substr(key.size()).starts_with('='))
            value = part.substr(key.size() + 1);
    }
    return value;
}

// Returns the server's objects at the revision: objects that have changed since have their earlier values,
// all others are as at present.
Result<HostConfiguration> configuration_at(Context& context, std::string_view revision) {
    HostConfiguration all = host_configuration(context.state(), context.server.options.home);
    if (revision.empty()) return all;
    PastConfiguration past(std::string(revision), {});
    for (Result<bool> more = true; *more;)
        if (more = past.read_some(*context.server.parts.plugin, context.now, context.who); !more)
            return tl::unexpected(more.error());
    for (auto& [object, values] : past.objects()) {
        if (values) {
            all[object] = std::move(*values);
        } else {
            all.erase(object);
        }
    }
    return all;
}

}  // namespace

ifl::Reply status_configuration(Context& context, std::string_view extend) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    ifl::Reply reply = context.server.parts.plugin->status(context.now, PBS_OBJ_CONFIGURATION, body.object,
                                                           body.wanted, context.who, extend);
    auto* status = std::get_if<ifl::StatusReply>(&reply.body);
    if (reply.code != 0 || status == nullptr || value_in(extend, "part") == "policies") return reply;
    for (ifl::ObjectStatus& object : status->objects)
        for (ifl::Attribute& attribute : object.attributes)
            if (attribute.name == "json") {
                const auto own = configuration_at(context, value_in(extend, "revision"));
                if (!own) return refuse(own.error());
                attribute.value = add_host_document(std::move(attribute.value), *own);
            }
    return reply;
}

}  // namespace pbs::host
