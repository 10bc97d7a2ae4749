#include "migrate/host_work.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "migrate/words.h"
#include "text/json_document.h"

namespace pbs::migrate {
namespace {

using objects::CommandKind;

std::string text_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int number_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<int>() : 0;
}

PrintedCommand command_of(const nlohmann::json& json) {
    PrintedCommand out;
    out.line = number_of(json, "line");
    out.file = text_of(json, "file");
    out.command.kind = static_cast<CommandKind>(number_of(json, "command"));
    out.command.type = static_cast<objects::ObjectType>(number_of(json, "type"));
    out.command.object = text_of(json, "object");
    std::string attribute = text_of(json, "attribute");
    if (!attribute.empty())
        out.command.changes.push_back({std::move(attribute), text_of(json, "value"),
                                       static_cast<objects::Operation>(number_of(json, "op"))});
    return out;
}

std::string title(const objects::Command& command) {
    const std::string_view type = objects::type_name(command.type);
    return command.object.empty() ? std::string(type) : fmt::format("{} {}", type, command.object);
}

std::string place_of(const HostWork& work, const PrintedCommand& printed) {
    return fmt::format("{}:{}", printed.file.empty() ? work.file : printed.file, printed.line);
}

std::string value_text(const objects::Command& command) {
    if (command.kind == CommandKind::create) return "(created)";
    if (command.kind == CommandKind::remove) return "(deleted)";
    if (command.kind == CommandKind::unset) return "(unset)";
    const objects::AttributeChange& change = command.changes.front();
    if (change.operation == objects::Operation::increment) return "+ " + change.value;
    if (change.operation == objects::Operation::decrement) return "- " + change.value;
    return change.value;
}

}  // namespace

std::string to_json(const HostWork& work) {
    if (work.commands.empty()) return {};
    nlohmann::json out;
    out["file"] = work.file;
    out["commands"] = nlohmann::json::array();
    for (const PrintedCommand& printed : work.commands) {
        const objects::Command& command = printed.command;
        nlohmann::json row{{"line", printed.line},
                           {"command", static_cast<int>(command.kind)},
                           {"type", static_cast<int>(command.type)},
                           {"object", command.object}};
        if (!printed.file.empty()) row["file"] = printed.file;
        if (!command.changes.empty()) {
            row["attribute"] = command.changes.front().name;
            row["value"] = command.changes.front().value;
            row["op"] = static_cast<int>(command.changes.front().operation);
        }
        out["commands"].push_back(std::move(row));
    }
    return text::write_json(out);
}

HostWork host_work_from_json(std::string_view text) {
    HostWork out;
    const nlohmann::json json = text::parse_json(text);
    if (!json.is_object()) return out;
    out.file = text_of(json, "file");
    const auto commands = json.find("commands");
    if (commands == json.end() || !commands->is_array()) return out;
    for (const nlohmann::json& row : *commands)
        if (row.is_object()) out.commands.push_back(command_of(row));
    return out;
}

std::optional<std::vector<HostOutcome>> outcomes_from_json(std::string_view text) {
    const nlohmann::json json = text::parse_json(text);
    if (!json.is_array()) return std::nullopt;
    std::vector<HostOutcome> out;
    for (const nlohmann::json& row : json) {
        if (!row.is_object()) return std::nullopt;
        const auto changed = row.find("changed");
        out.push_back({changed != row.end() && changed->is_boolean() && changed->get<bool>(),
                       text_of(row, "before"), text_of(row, "refused")});
    }
    return out;
}

std::string refusal_note(const HostWork& work, const PrintedCommand& printed, std::string_view why) {
    return fmt::format("{}: {}: isn't carried over: {}", place_of(work, printed),
                       in_line(objects::to_text(printed.command), 120), in_line(why, 300));
}

void add_lines(Report& report, const HostWork& work, const std::vector<HostOutcome>& outcomes) {
    for (std::size_t i = 0; i < work.commands.size(); ++i) {
        const PrintedCommand& printed = work.commands[i];
        const HostOutcome outcome = i < outcomes.size() ? outcomes[i] : HostOutcome{};
        if (!outcome.refused.empty()) {
            report.notes.push_back(refusal_note(work, printed, outcome.refused));
            continue;
        }
        std::string target = title(printed.command);
        if (!printed.command.changes.empty()) target += " " + printed.command.changes.front().name;
        report.lines.push_back({place_of(work, printed), std::move(target),
                                in_line(value_text(printed.command), 1000), outcome.changed,
                                in_line(outcome.before, 1000)});
    }
}

}  // namespace pbs::migrate
