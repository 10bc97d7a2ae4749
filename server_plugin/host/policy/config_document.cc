#include "server_plugin/host/policy/config_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "text/json.h"
#include "text/json_document.h"

namespace pbs::host {
namespace {

using Json = nlohmann::json;

struct Section {
    std::string_view key;
    int type;
};
constexpr std::array kSections = {Section{"server", PBS_OBJ_SERVER}, Section{"queue", PBS_OBJ_QUEUE},
                                  Section{"node", PBS_OBJ_NODE}, Section{"resource", PBS_OBJ_RESOURCE},
                                  Section{"sched", PBS_OBJ_SCHED}};

void append_values(std::string& text, const ConfigValues& values) {
    std::string_view separator = "{";
    for (const auto& [key, value] : values) {
        text += separator;
        text::append_json(text, key);
        text += ": ";
        text::append_json(text, value);
        separator = ", ";
    }
    text += values.empty() ? "{}" : "}";
}

void append_section(std::string& text, const Section& section, const HostConfiguration& configuration) {
    std::string_view separator = "{\n      ";
    auto object = configuration.lower_bound({section.type, {}});
    for (; object != configuration.end() && object->first.type == section.type; ++object) {
        if (section.type == PBS_OBJ_SERVER) return append_values(text, object->second);
        text += separator;
        text::append_json(text, object->first.name);
        text += ": ";
        append_values(text, object->second);
        separator = ",\n      ";
    }
    text += separator.front() == '{' ? "{}" : "\n    }";
}

class Reader {
  public:
    void read_section(const Section& section, const Json& json) {
        if (section.type == PBS_OBJ_SERVER) return read_object({section.type, {}}, json);
        if (!json.is_object())
            return problem(fmt::format("host: {}", section.key), json,
                           fmt::format("an object with the name of each {} as a key", section.key));
        for (const auto& [name, object] : json.items()) read_object({section.type, name}, object);
    }

    void problem(std::string_view place, const Json& found, std::string_view expected) {
        add(fmt::format("{}: found {}, expected {}", place, found.type_name(), expected));
    }
    void add(std::string_view line) {
        if (!problems.empty()) problems += '\n';
        problems += line;
    }

    HostConfiguration configuration;
    std::string problems;

  private:
    void read_object(const ConfigName& object, const Json& json) {
        const std::string place = "host: " + title(object);
        if (!json.is_object()) return problem(place, json, "an object of attributes");
        ConfigValues& values = configuration[object];
        for (const auto& [key, value] : json.items()) {
            auto text = text::from_json(value);
            if (!text) {
                problem(fmt::format("{}: {}", place, key), value, "a string");
            } else {
                values.emplace_back(key, std::move(*text));
            }
        }
    }
};

}  // namespace

Result<bool> PastConfiguration::read_some(Plugin& plugin, int64_t now, const Identity& who) {
    const ifl::Reply reply =
        plugin.status(now, PBS_OBJ_CONFIGURATION, object_, {}, who,
                      fmt::format("part=host;revision={};after={}", revision_, after_), &after_);
    if (reply.code != 0) {
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        return fail(reply.code, text != nullptr ? text->text : std::string());
    }
    for (const ifl::ObjectStatus& one : std::get<ifl::StatusReply>(reply.body).objects) {
        const auto [at, first] = objects_.try_emplace({static_cast<int>(one.type), one.name});
        if (!first) continue;
        auto values = from_json(one.attributes.empty() ? "" : one.attributes.front().value);
        if (!values) return tl::unexpected(values.error());
        if (*values) sort_values(static_cast<int>(one.type), **values);
        at->second = std::move(*values);
    }
    return !after_.empty();
}

std::string add_host_document(std::string document, const HostConfiguration& configuration) {
    const auto end = document.rfind("\n}");
    if (end == std::string::npos) return document;
    std::string part = ",\n  \"host\": {";
    for (const Section& section : kSections) {
        part += fmt::format("{}\n    \"{}\": ", &section == kSections.data() ? "" : ",", section.key);
        append_section(part, section, configuration);
    }
    return document.insert(end, part + "\n  }");
}

Result<std::optional<HostConfiguration>> read_host_document(std::string_view document) {
    const Json json = text::parse_json(document);
    if (!json.is_object() || !json.contains("host")) return std::nullopt;
    const Json& host = json["host"];
    Reader reader;
    if (!host.is_object()) {
        reader.problem("host", host, "an object with the keys server, queue, node, resource and sched");
    } else {
        for (const auto& [key, part] : host.items()) {
            const auto* const section = std::ranges::find(kSections, key, &Section::key);
            if (section != kSections.end()) {
                reader.read_section(*section, part);
            } else {
                reader.add(
                    fmt::format("host: unknown key {}: expected server, queue, node, resource or sched",
                                text::to_json(key)));
            }
        }
    }
    if (!reader.problems.empty()) return fail(PBSE_BADATVAL, reader.problems);
    return std::move(reader.configuration);
}

}  // namespace pbs::host
