#include "tools/replay/ask.h"

#include <fmt/format.h>
#include <unistd.h>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/pbs_ifl.h"

namespace pbs::replay {
namespace {

constexpr useconds_t kPauseUs = 200'000;

// Sends a request for a record, and joins the parts of the reply. `cycles` becomes the server's count of
// cycles.
tl::expected<std::string, AskError> ask(const cmds::Connection& connection, const std::string& sched,
                                        const char* extend, std::string& cycles) {
    const cmds::StatusList parts(pbs_statrecord(connection.handle(), sched.c_str(), extend));
    if (!parts)
        return tl::unexpected(
            AskError{cmds::exit_status(pbs_errno),
                     fmt::format("a record of sched {}: {}", sched.empty() ? "default" : sched,
                                 connection.error_text())});
    std::string text;
    for (const batch_status* part = parts.get(); part != nullptr; part = part->next) {
        text += cmds::value_of(part->attribs, "text").value_or(std::string_view());
        cycles = cmds::value_of(part->attribs, "cycles").value_or(std::string_view());
    }
    return text;
}

}  // namespace

tl::expected<std::string, AskError> ask_record(const std::string& server, const std::string& sched,
                                               bool next) {
    const auto connection = cmds::Connection::open(server);
    if (!connection) return tl::unexpected(AskError{connection.error().status, connection.error().message});
    std::string cycles;
    auto text = ask(*connection, sched, next ? "next" : nullptr, cycles);
    if (!next || !text) return text;
    const std::string after = "after=" + cycles;
    while (text && text->empty()) {
        usleep(kPauseUs);
        text = ask(*connection, sched, after.c_str(), cycles);
    }
    return text;
}

}  // namespace pbs::replay
