#include "ifl/cmds/config_format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/config_diff.h"
#include "ifl/cmds/datetime.h"
#include "ifl/cmds/text.h"
#include "text/json_document.h"

namespace pbs::cmds {

namespace {

using Json = nlohmann::ordered_json;

HistoryRow row_of(const batch_status& object) {
    const auto text = [&](std::string_view name) {
        return std::string(value_of(object.attribs, name).value_or(std::string_view()));
    };
    HistoryRow row;
    row.revision = parse_integer(view(object.name)).value_or(0);
    row.change = parse_integer(text("change")).value_or(0);
    row.time = parse_integer(text("time")).value_or(0);
    row.user = text("user");
    row.host = text("host");
    row.command = text("command");
    row.type = text("type");
    row.object = text("object");
    row.before = text("before");
    row.after = text("after");
    return row;
}

}  // namespace

std::vector<HistoryRow> history_rows(const batch_status* list) {
    std::vector<HistoryRow> rows;
    for (; list != nullptr; list = list->next) rows.push_back(row_of(*list));
    return rows;
}

namespace {

// Returns whether both rows are of one request about one object. A request has two rows for an object if it
// changes both attributes that the server keeps and attributes that the policy plugin keeps.
bool same_deed(const HistoryRow& a, const HistoryRow& b) {
    return a.change == b.change && a.type == b.type && a.object == b.object && a.command == b.command;
}

}  // namespace

std::string history_text(const std::vector<HistoryRow>& rows) {
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const HistoryRow& row = rows[i];
        if (i + 1 < rows.size() && same_deed(row, rows[i + 1])) continue;
        const std::string title = config_title(row.type, row.object);
        // changes that the server made by itself have no host
        const std::string who = row.host.empty() ? row.user : fmt::format("{}@{}", row.user, row.host);
        text += fmt::format("{:>6}  {}  {}  {}", row.revision, instant_text(row.time), printable(who),
                            printable(row.command));
        if (row.command.find(title) == std::string::npos) text += fmt::format(": {}", printable(title));
        text += '\n';
    }
    return text;
}

std::string history_json(const std::vector<HistoryRow>& rows) {
    Json all = Json::array();
    for (const HistoryRow& row : rows) {
        all.push_back({{"revision", row.revision},
                       {"change", row.change},
                       {"time", row.time},
                       {"user", row.user},
                       {"host", row.host},
                       {"command", row.command},
                       {"type", row.type},
                       {"object", row.object},
                       {"before", text::json_or_string(row.before)},
                       {"after", text::json_or_string(row.after)}});
    }
    return text::write_json(all, 2) + "\n";
}

}  // namespace pbs::cmds
