// object=history: replies with an object for each row of the history.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ifl/pbs_error.h"
#include "objects/commands.h"
#include "server_plugin/plugin/requests/configuration.h"
#include "server_plugin/plugin/requests/extend.h"
#include "server_plugin/plugin/text.h"
#include "values/object_types.h"

namespace pbs::plugin {
namespace {

constexpr std::int64_t kMostRows = 10'000;  // the largest `limit` of a request
// The limits of one reply, so that other clients needn't wait long. A client that wants more rows asks again.
constexpr std::size_t kRowsAtOnce = 1000;
constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;
constexpr std::string_view kKeys = "type, name, from, until, limit or before_revision";

objects::Result<std::int64_t> take_type(std::string_view value, objects::HistoryQuery& query) {
    query.type = objects::type_from_word(value);
    if (query.type) return 0;
    return objects::fail(objects::Code::bad_value,
                         fmt::format("type: bad value '{}': expected {}", value, values::type_list()));
}

objects::Result<std::int64_t> take_limit(std::string_view value, objects::HistoryQuery& query) {
    auto number = extend_number("limit", value);
    if (number && (*number < 1 || *number > kMostRows)) {
        return objects::fail(objects::Code::bad_value,
                             fmt::format("limit: bad value '{}': expected 1 to {}", value, kMostRows));
    }
    if (number) query.limit = static_cast<std::size_t>(*number);
    return number;
}

objects::Result<std::int64_t> take_key(std::string_view key, std::string_view value,
                                       objects::HistoryQuery& query) {
    if (key == "type") return take_type(value, query);
    if (key == "limit") return take_limit(value, query);
    if (key == "name") {
        query.object = value;
        return 0;
    }
    if (key != "from" && key != "until" && key != "before_revision") return unknown_key(key, kKeys);
    auto number = extend_number(key, value);
    if (!number) return number;
    const std::chrono::sys_seconds at{std::chrono::seconds(*number)};
    if (key == "from") query.from = at;
    if (key == "until") query.until = at;
    if (key == "before_revision") query.before_revision = static_cast<std::uint64_t>(*number);
    return number;
}

objects::Result<objects::HistoryQuery> read_query(std::string_view extend) {
    objects::HistoryQuery query;
    auto read = read_extend(
        extend, [&](std::string_view key, std::string_view value) { return take_key(key, value, query); });
    if (!read) return tl::unexpected(read.error());
    query.limit = std::min(query.limit, kRowsAtOnce);
    query.bytes = kBytesAtOnce;
    if (query.object && !query.type)
        return objects::fail(objects::Code::invalid_request, "name: expected type beside it");
    return query;
}

void add(const objects::HistoryEntry& entry, Reply& reply) {
    const std::string time = std::to_string(entry.at.time_since_epoch().count());
    const std::string change = std::to_string(entry.change);
    const std::array<ShownAttribute, 9> shown{{{"time", time, {}},
                                               {"user", entry.user, {}},
                                               {"host", entry.host, {}},
                                               {"command", entry.command, {}},
                                               {"change", change, {}},
                                               {"type", objects::type_name(entry.type), {}},
                                               {"object", entry.object, {}},
                                               {"before", entry.before, {}},
                                               {"after", entry.after, {}}}};
    reply.object(PBS_OBJ_HISTORY, std::to_string(entry.revision), shown);
}

}  // namespace

int32_t status_history(State& state, const pbs_status_request& request, Reply reply) {
    if ((request.who.privilege & (PBS_PRIV_OPERATOR | PBS_PRIV_MANAGER | PBS_PRIV_ROOT)) == 0)
        return reply.error(PBSE_PERM, {});
    const auto query = read_query(view(request.extend));
    if (!query) return reply.error(static_cast<int32_t>(query.error().code), query.error().message);
    const auto entries = state.store->history(*query);
    if (!entries) return reply.error(static_cast<int32_t>(entries.error().code), entries.error().message);
    for (const objects::HistoryEntry& entry : *entries) add(entry, reply);
    return PBSE_NONE;
}

}  // namespace pbs::plugin
