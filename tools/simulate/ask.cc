#include "tools/simulate/ask.h"

#include <fmt/format.h>

#include <string_view>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/fairshare_format.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

namespace pbs::simulate {
namespace {

std::string attribute(const batch_status* object, std::string_view name) {
    if (object == nullptr) return {};
    return std::string(cmds::value_of(object->attribs, name).value_or(std::string_view()));
}

std::string shown_name(const std::string& server) {
    return server.empty() ? "the default server" : "server " + server;
}

Result<std::string> ask_day(int handle, const std::string& day) {
    std::string text;
    while (true) {
        const std::string extend = fmt::format("offset={}", text.size());
        const cmds::StatusList part(pbs_stataccounting(handle, day.c_str(), extend.c_str()));
        if (!part) return tl::unexpected(cmds::failure_text(handle));
        const std::string more = attribute(part.get(), "text");
        if (more.empty()) return text;
        text += more;
    }
}

}  // namespace

Result<ServerAnswer> ask_server(const std::string& server) {
    const std::string name = shown_name(server);
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

Result<std::string> ask_share_usage(const std::string& server, const std::vector<std::string>& scheds) {
    const std::string name = shown_name(server);
    const auto connection = cmds::Connection::open(server);
    if (!connection)
        return tl::unexpected(fmt::format("can not connect to {}: {}", name, cmds::failure_text(-1)));
    std::vector<cmds::ShareTree> trees;
    for (const std::string& sched : scheds) {
        const cmds::StatusList list(pbs_statfairshare(connection->handle(), sched.c_str(), nullptr));
        // These errors mean that the scheduler has no fair shares, or that the server is one of OpenPBS.
        if (!list && pbs_errno != PBSE_FS_GROUP_NOT_FOUND && pbs_errno != PBSE_NOSUP &&
            pbs_errno != PBSE_UNKSCHED)
            return tl::unexpected(
                fmt::format("the usage of shares of {}: {}", name, cmds::failure_text(connection->handle())));
        for (cmds::ShareTree& tree : cmds::share_trees(list.get())) trees.push_back(std::move(tree));
    }
    return cmds::shares_json(trees);
}

Result<std::vector<LogText>> ask_accounting(const std::string& server, const std::string& first,
                                            const std::string& last) {
    const std::string name = shown_name(server);
    const auto connection = cmds::Connection::open(server);
    if (!connection)
        return tl::unexpected(fmt::format("can not connect to {}: {}", name, cmds::failure_text(-1)));
    const int handle = connection->handle();
    const auto failed = [&](const std::string& reason) {
        return tl::unexpected(fmt::format("the accounting records of {}: {}", name, reason));
    };
    const cmds::StatusList days(pbs_stataccounting(handle, nullptr, nullptr));
    if (!days && pbs_errno != 0) return failed(cmds::failure_text(handle));
    std::vector<LogText> logs;
    for (const batch_status* day = days.get(); day != nullptr; day = day->next) {
        const std::string date = day->name;
        if ((!first.empty() && date < first) || (!last.empty() && date > last)) continue;
        auto text = ask_day(handle, date);
        if (!text) return failed(text.error());
        logs.push_back({fmt::format("{} of {}", date, name), *std::move(text)});
    }
    if (logs.empty()) return failed(fmt::format("there are none from {} to {}", first, last));
    return logs;
}

}  // namespace pbs::simulate
