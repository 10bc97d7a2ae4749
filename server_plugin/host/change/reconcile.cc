#include "server_plugin/host/change/reconcile.h"

#include <fmt/format.h>

#include <algorithm>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/state/configuration.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/number.h"

namespace pbs::host {
namespace {

// The last row of an object in the history. `change` is the number of the change to which the row belongs.
struct Recorded {
    ConfigName object;
    std::optional<ConfigValues> before;
    std::optional<ConfigValues> after;
    int64_t change = 0;
};

std::string_view value_of(const ifl::ObjectStatus& object, std::string_view name) {
    const auto found = std::ranges::find(object.attributes, name, &ifl::Attribute::name);
    return found == object.attributes.end() ? std::string_view() : std::string_view(found->value);
}

int64_t change_of(const ifl::ObjectStatus& object) {
    return values::number<int64_t>(value_of(object, "change")).value_or(0);
}

Result<std::optional<ConfigValues>> values_in(const ifl::ObjectStatus& row, std::string_view name) {
    auto values = from_json(value_of(row, name));
    if (values && *values) sort_values(static_cast<int>(row.type), **values);
    return values;
}

Result<std::vector<Recorded>> recorded_objects(Server& server) {
    const ifl::Reply reply = server.parts.plugin->status(server.now(), PBS_OBJ_CONFIGURATION, {}, {},
                                                         server.identity(), "part=recorded");
    if (reply.code != 0) return fail(reply.code, "the plugin keeps no history of the server's objects");
    std::vector<Recorded> all;
    for (const ifl::ObjectStatus& row : std::get<ifl::StatusReply>(reply.body).objects) {
        auto before = values_in(row, "before");
        auto after = values_in(row, "after");
        if (!before) return tl::unexpected(before.error());
        if (!after) return tl::unexpected(after.error());
        all.push_back(
            {{static_cast<int>(row.type), row.name}, std::move(*before), std::move(*after), change_of(row)});
    }
    return all;
}

// Returns the number of the history's last change; 0: the history is empty.
int64_t last_change(Server& server) {
    const ifl::Reply reply =
        server.parts.plugin->status(server.now(), PBS_OBJ_HISTORY, {}, {}, server.identity(), "limit=1");
    const auto* rows = std::get_if<ifl::StatusReply>(&reply.body);
    return rows == nullptr || rows->objects.empty() ? 0 : change_of(rows->objects.back());
}

}  // namespace

Result<void> reconcile_history(Server& server) {
    const auto recorded = recorded_objects(server);
    if (!recorded) return {};
    const int64_t last = last_change(server);
    std::vector<ConfigChange> differences;
    bool last_is_missing = true;
    for (const Recorded& one : *recorded) {
        auto present = config_values(server.state, server.options.home, one.object);
        const bool differs = present != one.after;
        if (differs != (one.change == last) || (differs && present != one.before)) last_is_missing = false;
        if (differs) differences.push_back({one.object, one.after, std::move(present)});
    }
    if (differences.empty()) return {};
    std::string warning;
    ifl::Attributes revision;
    if (last_is_missing) revision.push_back({"revision", "", std::to_string(last - 1), ifl::Op::set});
    const ConfigName& first = differences.front().object;
    const HostRecord record{"server: found so, and not in the history", differences};
    server.parts.log.write(
        LogEvent::admin, LogClass::server, "history",
        last_is_missing
            ? fmt::format("change {} is not in the server: it is taken back", last)
            : fmt::format(
                  "{} of the server's objects are not as the history has them: it gets a row for each",
                  differences.size()));
    return server.parts.plugin->manager(
        server.now(), PBS_CMD_SET, last_is_missing ? int{PBS_OBJ_CONFIGURATION} : first.type,
        last_is_missing ? std::string() : first.name, revision, server.identity(), {}, warning, record);
}

void reconcile_after_failure(Server& server) {
    if (server.parts.plugin == nullptr) return;
    if (auto done = reconcile_history(server); !done)
        server.parts.log.error("history",
                               fmt::format("the history has a change that the server has not; the next start "
                                           "puts it right: {}",
                                           done.error().message));
}

}  // namespace pbs::host
