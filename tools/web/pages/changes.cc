#include "tools/web/pages/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "ifl/cmds/config_diff.h"
#include "ifl/cmds/config_format.h"
#include "ifl/cmds/text.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "values/text.h"

namespace pbs::web {
namespace {

using cmds::value_of;
using cmds::view;

constexpr int kShown = 100;
constexpr std::size_t kLongestNumber = 18;
constexpr std::size_t kLongestObject = 300;
// `from` and `to` ask for the differences between two revisions; `before` and `object` select rows of the
// history.
constexpr std::array kChangesParameters = {Parameter{"from", kLongestNumber}, Parameter{"to", kLongestNumber},
                                           Parameter{"before", kLongestNumber},
                                           Parameter{"object", kLongestObject}};

// Returns the revision that a parameter names; nullopt: the parameter isn't given.
tl::expected<std::optional<long long>, Answer> revision_of(const Query& query, std::string_view name) {
    const auto found = query.find(name);
    if (found == query.end()) return std::nullopt;
    const auto number = cmds::parse_integer(found->second);
    if (!number || *number < 0)
        return tl::unexpected(refusal(
            kBad, fmt::format("bad {} '{}': expected the number of a revision", name, found->second)));
    return *number;
}

// Converts an object such as "policy p1" to keys of pbs_stathistory(): "type=policy;name=p1;".
tl::expected<std::string, Answer> object_keys(const Query& query) {
    const auto found = query.find("object");
    if (found == query.end()) return std::string();
    const std::string_view object = values::trim(found->second);
    const std::string_view type = cmds::first_word(object);
    const std::string_view name = values::trim(object.substr(type.size()));
    if (object.find(';') != std::string_view::npos)
        return tl::unexpected(refusal(
            kBad, fmt::format("bad object '{}': expected a type and a name, as in \"policy p1\"", object)));
    return name.empty() ? fmt::format("type={};", type) : fmt::format("type={};name={};", type, name);
}

Answer ask_difference(Link& server, long long from, std::optional<long long> to, Answer answer) {
    std::array<std::string, 2> documents;
    for (std::size_t at = 0; at < documents.size(); ++at) {
        const std::optional<long long> revision = at == 0 ? from : to;
        const std::string extend = revision ? fmt::format("revision={}", *revision) : "";
        const cmds::StatusList list = server.take(pbs_statconfiguration(server.handle(), extend.c_str()));
        if (!list) return refused(server);
        documents.at(at) = value_of(list->attribs, "json").value_or("");
    }
    auto difference = difference_json(documents.front(), documents.back());
    if (!difference) return refusal(kBad, difference.error());
    answer.json["from"] = from;
    answer.json["to"] = or_null(to);
    answer.json["difference"] = std::move(*difference);
    return answer;
}

Answer ask_history(Link& server, const std::string& keys, std::optional<long long> before, Answer answer) {
    std::string extend = keys + fmt::format("limit={}", kShown);
    if (before) extend += fmt::format(";before_revision={}", *before);
    const cmds::StatusList rows = server.take(pbs_stathistory(server.handle(), extend.c_str()));
    if (!rows && server.error() != PBSE_NONE) return refused(server);
    answer.json["changes"] = history_rows_json(rows.get());
    return answer;
}

Answer ask_changes(Link& server, const Query& query) {
    const auto from = revision_of(query, "from");
    if (!from) return from.error();
    const auto to = revision_of(query, "to");
    if (!to) return to.error();
    const auto before = revision_of(query, "before");
    if (!before) return before.error();
    const auto keys = object_keys(query);
    if (!keys) return keys.error();
    if (*to && !*from) return refusal(kBad, "to is given without from");
    const auto replies = ask_site(server);
    if (!replies) return replies.error();
    Answer answer = answer_of(replies->view(), calendar_of(replies->view()));
    answer.json["server_name"] = view(replies->server->name);
    Answer out = *from ? ask_difference(server, **from, *to, std::move(answer))
                       : ask_history(server, *keys, *before, std::move(answer));
    if (server.error() == PBSE_PERM)
        return refusal(out.status,
                       "The server tells of changes to managers and operators alone, and pbs_web is none: "
                       "pbs_web(8), PRIVILEGES, says what to do.");
    return out;
}

}  // namespace

Json history_rows_json(const batch_status* rows) {
    Json out = Json::array();
    std::vector<cmds::HistoryRow> list = cmds::history_rows(rows);
    std::ranges::reverse(list);
    for (const cmds::HistoryRow& row : list) {
        out.push_back({{"revision", row.revision},
                       {"change", row.change},
                       {"at", row.time},
                       {"user", row.user},
                       {"host", row.host},
                       {"command", row.command},
                       {"object", cmds::config_title(row.type, row.object)}});
    }
    return out;
}

tl::expected<Json, std::string> difference_json(std::string_view before, std::string_view after) {
    const auto changes = cmds::config_diff(before, after, "");
    if (!changes) return tl::unexpected(changes.error().message);
    Json objects = Json::array();
    for (const cmds::ConfigChange& change : *changes) {
        Json attributes = Json::array();
        for (const cmds::ConfigAttribute& attribute : change.attributes)
            attributes.push_back({{"name", attribute.name},
                                  {"before", or_null(attribute.before)},
                                  {"after", or_null(attribute.after)}});
        objects.push_back({{"object", cmds::config_title(change.type, change.name)},
                           {"created", change.created},
                           {"deleted", change.deleted},
                           {"attributes", std::move(attributes)}});
    }
    return Json{{"objects", std::move(objects)}, {"directives", cmds::diff_directives(*changes)}};
}

const Page kChangesPage{.name = "changes",
                        .title = "Changes",
                        .parameters = kChangesParameters,
                        .good_for = std::chrono::seconds(10),
                        .ask = ask_changes};

}  // namespace pbs::web
