#include "simulate/ask.h"

#include <fmt/format.h>

#include <string_view>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/pbs_ifl.h"

namespace pbs::simulate {
namespace {

std::string attribute(const batch_status* object, std::string_view name) {
    if (object == nullptr) return {};
    return std::string(cmds::value_of(object->attribs, name).value_or(std::string_view()));
}

}  // namespace

Result<ServerAnswer> ask_server(const std::string& server) {
    const std::string name = server.empty() ? "the default server" : "server " + server;
    const auto connection = cmds::Connection::open(server);
    if (!connection)
        return tl::unexpected(fmt::format("can not connect to {}: {}", name, cmds::failure_text(-1)));
    const int handle = connection->handle();
    const cmds::StatusList document(pbs_statconfiguration(handle, nullptr));
    if (!document)
        return tl::unexpected(fmt::format("the configuration of {}: {}", name, cmds::failure_text(handle)));
    const cmds::StatusList status(pbs_statserver(handle, nullptr, nullptr));
    return ServerAnswer{attribute(document.get(), "json"), attribute(status.get(), "time_zone")};
}

}  // namespace pbs::simulate
