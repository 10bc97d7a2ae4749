#include "migrate/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "text/json_document.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, Format>, 6> kFormats{{{"text", Format::text},
                                                                       {"json", Format::json},
                                                                       {"commands", Format::commands},
                                                                       {"diff", Format::diff},
                                                                       {"notes", Format::notes},
                                                                       {"host", Format::host}}};

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

// Writes JSON. Replaces invalid UTF-8, since names of files and remarks may contain any bytes.
std::string dumped(const Json& json) {
    return text::write_json(json, 2) + "\n";
}

std::string notes_text(const Conversion& conversion, std::string_view before) {
    std::string out;
    for (const std::string& note : conversion.report.notes) out += fmt::format("{}{}\n", before, note);
    return out;
}

std::string commands_text(const Conversion& conversion) {
    std::string out = notes_text(conversion, "# ");
    for (const auto& [scope, batch] : conversion.usage)
        out += fmt::format("# usage of {}: {}, which no command of qmgr sets\n", scope,
                           values::counted(batch.usage.size(), "record"));
    return out + to_qmgr(conversion);
}

std::string diff_text(const Conversion& conversion) {
    std::string out = notes_text(conversion, "# ");
    for (const Report::Line& line : conversion.report.lines) {
        if (!line.changed) continue;
        const bool whole_object = line.value.empty() && line.before.empty();
        if (whole_object) out += "- " + line.target + "\n";
        if (!line.before.empty()) out += "- " + line.target + " = " + line.before + "\n";
        if (!line.value.empty()) out += "+ " + line.target + " = " + line.value + "\n";
    }
    return out;
}

}  // namespace

std::optional<Format> format_from_word(std::string_view word) {
    const auto* found = std::ranges::find(kFormats, word, [](const auto& entry) { return entry.first; });
    return found == kFormats.end() ? std::nullopt : std::optional(found->second);
}

std::string_view format_word(Format format) {
    return std::ranges::find(kFormats, format, [](const auto& entry) { return entry.second; })->first;
}

std::string show(const Conversion& conversion, Format format) {
    switch (format) {
        case Format::json:
            return to_json(conversion);
        case Format::commands:
            return commands_text(conversion);
        case Format::diff:
            return diff_text(conversion);
        case Format::notes:
            return notes_text(conversion, "note: ");
        case Format::host:
            return to_json(conversion.host);
        case Format::text:
            break;
    }
    return to_text(conversion.report);
}

std::string to_json(const Conversion& conversion) {
    Json out;
    out["lines"] = Json::array();
    for (const Report::Line& line : conversion.report.lines)
        out["lines"].push_back({{"source", line.source},
                                {"target", line.target},
                                {"value", text_or_null(line.value)},
                                {"before", text_or_null(line.before)},
                                {"changed", line.changed}});
    out["notes"] = conversion.report.notes;
    out["commands"] = Json::array();
    const std::string commands = to_qmgr(conversion);
    for (std::size_t from = 0; from < commands.size();) {
        const std::size_t end = commands.find('\n', from);
        out["commands"].push_back(commands.substr(from, end - from));
        from = end + 1;
    }
    return dumped(out);
}

std::string to_json(const std::string& file, const Exported& exported) {
    Json out;
    out["file"] = file;
    out["left_out"] = exported.left_out;
    return dumped(out);
}

std::string to_json(const Problems& problems, bool unknown) {
    Json out;
    if (unknown) out["unknown"] = true;
    out["problems"] = Json::array();
    for (const Problem& problem : problems)
        out["problems"].push_back({{"file", problem.file},
                                   {"line", problem.line},
                                   {"column", problem.column},
                                   {"option", problem.option},
                                   {"message", problem.message}});
    return dumped(out);
}

}  // namespace pbs::migrate
