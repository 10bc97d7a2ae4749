#include "replay/ask.h"

#include <fmt/format.h>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/pbs_ifl.h"

namespace pbs::replay {

tl::expected<std::string, AskError> ask_record(const std::string& server, const std::string& sched) {
    const auto connection = cmds::Connection::open(server);
    if (!connection) return tl::unexpected(AskError{connection.error().status, connection.error().message});
    const cmds::StatusList parts(pbs_statrecord(connection->handle(), sched.c_str(), nullptr));
    if (!parts)
        return tl::unexpected(
            AskError{cmds::exit_status(pbs_errno),
                     fmt::format("a record of sched {}: {}", sched.empty() ? "default" : sched,
                                 connection->error_text())});
    std::string text;
    for (const batch_status* part = parts.get(); part != nullptr; part = part->next)
        text += cmds::value_of(part->attribs, "text").value_or(std::string_view());
    return text;
}

}  // namespace pbs::replay
