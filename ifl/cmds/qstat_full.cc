// Formats all attributes of jobs, queues and servers for qstat: as text (-f) and as JSON.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ifl/cmds/datetime.h"
#include "ifl/cmds/json_value.h"
#include "ifl/cmds/qstat_format.h"
#include "ifl/cmds/text.h"
#include "text/json_document.h"
#include "text/variable_list.h"
#include "text/xml.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

// Returns whether the attribute holds an instant, which is shown as a date.
bool holds_instant(std::string_view name, std::string_view resource) {
    constexpr std::array<std::string_view, 10> kNames{
        ATTR_ctime, ATTR_etime,      ATTR_stime,    ATTR_obittime,      ATTR_mtime,
        ATTR_qtime, ATTR_resv_start, ATTR_resv_end, ATTR_cred_validity, ATTR_a};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
           (name == ATTR_estimated && resource == "start_time");
}

// The words of a job's arguments, which the server has as "<jsdl-hpcpa:Argument>a</jsdl-hpcpa:Argument>...".
std::string argument_words(std::string_view value) {
    constexpr std::string_view kOpen = "<jsdl-hpcpa:Argument>";
    constexpr std::string_view kClose = "</jsdl-hpcpa:Argument>";
    std::string words;
    for (;;) {
        const std::size_t begin = value.find(kOpen);
        const std::size_t end = begin == std::string_view::npos ? begin : value.find(kClose, begin);
        if (end == std::string_view::npos) break;
        const std::string_view word = value.substr(begin + kOpen.size(), end - begin - kOpen.size());
        words += (words.empty() ? "" : " ") + text::from_xml(word);
        value.remove_prefix(end + kClose.size());
    }
    return words;
}

std::string shown_value(const attrl& attribute) {
    const std::string_view name = view(attribute.name);
    const std::string_view value = view(attribute.value);
    if (holds_instant(name, view(attribute.resource))) {
        const auto instant = parse_integer(value);
        if (!instant) return std::string(value);
        return *instant == 0 && name == ATTR_estimated ? "UNKNOWN"
                                                       : date_text(static_cast<std::time_t>(*instant));
    }
    if (name == ATTR_submit_arguments && value.find("<jsdl-hpcpa:Argument>") != std::string_view::npos)
        return argument_words(value);
    return std::string(value);
}

// Returns the text with \n and \f in place of newlines and form feeds, for formats with one attribute a line.
std::string on_one_line(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '\n' ? "\\n" : c == '\f' ? "\\f" : std::string(1, c);
    return out;
}

// Breaks a value into lines: at commas or, where there are none, at column 78. Further lines begin with a
// tab. As in PBS, commas aren't counted as columns.
std::string broken(std::string_view value, std::size_t used) {
    constexpr std::size_t kLine = 78;
    constexpr std::size_t kTab = 8;
    std::string out;
    bool first = true;
    for (const std::string_view part : values::split(value, ',')) {
        if (!first) out += ',';
        if (used + part.size() < kLine) {
            out += printable(part);
            used += part.size();
        } else {
            if (!first) {
                out += "\n\t";
                used = kTab + 1;
            }
            for (std::size_t i = 0; i < part.size(); ++i) {
                out += printable(part.substr(i, 1));
                if (++used > kLine) {
                    out += "\n\t";
                    used = kTab;
                }
            }
        }
        first = false;
    }
    return out;
}

// Puts a backslash before each delimiter in the value, and before each backslash that doesn't escape already.
std::string dsv_escaped(std::string_view value, std::string_view delimiter) {
    if (delimiter.empty()) return on_one_line(value);
    std::string out;
    while (!value.empty()) {
        if (value.substr(0, delimiter.size()) == delimiter) {
            out += '\\';
            out += delimiter;
            value.remove_prefix(delimiter.size());
            continue;
        }
        const bool escapes =
            value[0] == '\\' && value.size() > 1 && std::string_view("'\",").find(value[1]) != value.npos;
        out += value[0] == '\\' && !escapes ? "\\" : "";
        out += value[0];
        value.remove_prefix(1);
    }
    return on_one_line(out);
}

// Returns whether the value is a name that users choose. A name stays a string, even if it looks like a
// number.
bool is_name(std::string_view attribute) {
    return attribute == ATTR_N || attribute == ATTR_project || attribute == ATTR_A;
}

nlohmann::ordered_json json_variables(std::string_view list) {
    nlohmann::ordered_json variables = nlohmann::ordered_json::object();
    for (const auto& [name, value] : text::parse_variables(list))
        add_json(variables, name, json_value(value));
    return variables;
}

nlohmann::ordered_json json_object(const attrl* attribute) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (; attribute != nullptr; attribute = attribute->next) {
        const std::string_view name = view(attribute->name);
        const bool resource = !view(attribute->resource).empty();
        if (!resource && name == ATTR_v)
            add_json(object, *attribute, json_variables(view(attribute->value)));
        else if (!resource && is_name(name))
            add_json(object, *attribute, shown_value(*attribute));
        else
            add_json(object, *attribute, json_value(shown_value(*attribute)));
    }
    return object;
}

}  // namespace

std::string full_text(const batch_status* objects, std::string_view what, const QstatOptions& options) {
    const bool dsv = options.format == ListFormat::dsv;
    std::string text;
    for (; objects != nullptr; objects = objects->next) {
        text += fmt::format("{}: {}", what, view(objects->name));
        for (const attrl* attribute = objects->attribs; attribute != nullptr; attribute = attribute->next) {
            const std::string name = attribute_name(*attribute);
            const std::string value = shown_value(*attribute);
            if (dsv) {
                text += fmt::format("{}{}={}", options.delimiter, name,
                                    printable(dsv_escaped(value, options.delimiter)));
            } else if (options.wide) {
                text += fmt::format("\n    {} = {}", name, printable(on_one_line(value)));
            } else {
                text += fmt::format("\n    {} = {}", name, broken(value, name.size() + 7));
            }
        }
        text += dsv ? "\n" : "\n\n";
    }
    return text;
}

struct JsonReport::Document {
    nlohmann::ordered_json json;
    std::map<std::string, std::string, std::less<>>
        servers;  // the server of each object, by the object's name
};

JsonReport::JsonReport(std::string_view server, std::string_view version, std::time_t now)
    : document_(std::make_unique<Document>()) {
    document_->json["timestamp"] = static_cast<std::int64_t>(now);
    document_->json["pbs_version"] = version;
    document_->json["pbs_server"] = server;
}

JsonReport::~JsonReport() = default;

void JsonReport::add(std::string_view group, std::string_view server, const batch_status* objects) {
    auto& all = document_->json[std::string(group)];
    if (all.is_null()) all = nlohmann::ordered_json::object();
    for (; objects != nullptr; objects = objects->next) {
        std::string name(view(objects->name));
        if (document_->servers.try_emplace(name, server).first->second != server) {
            name += '@';
            name += server;
        }
        all[name] = json_object(objects->attribs);
    }
}

std::string JsonReport::text() const {
    return text::write_json(document_->json, 4) + "\n";
}

}  // namespace pbs::cmds
