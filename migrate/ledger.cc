#include "migrate/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "migrate/words.h"

namespace pbs::migrate {
namespace {

constexpr std::array<std::pair<Part, std::string_view>, 8> kParts{{{Part::options, "options"},
                                                                   {Part::holidays, "holidays"},
                                                                   {Part::dedicated_time, "dedicated_time"},
                                                                   {Part::resource_group, "resource_group"},
                                                                   {Part::server, "server"},
                                                                   {Part::formula, "formula"},
                                                                   {Part::resourcedef, "resourcedef"},
                                                                   {Part::grid_engine, "grid_engine"}}};

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (;;) {
        const auto end = line.find('\t');
        fields.push_back(line.substr(0, end));
        if (end == std::string_view::npos) return fields;
        line.remove_prefix(end + 1);
    }
}

}  // namespace

bool Ledger::has(objects::ObjectType type, std::string_view object, std::string_view attribute) const {
    return std::ranges::any_of(lines, [&](const LedgerLine& line) {
        return line.type == type && line.object == object && line.attribute == attribute;
    });
}

bool Ledger::has(objects::ObjectType type, std::string_view object, std::string_view attribute,
                 std::string_view value) const {
    return std::ranges::any_of(lines, [&](const LedgerLine& line) {
        return line.type == type && line.object == object && line.attribute == attribute &&
               line.value == value;
    });
}

std::vector<std::string> checked_resources(const Ledger& ledger) {
    std::vector<std::string> names;
    for (const LedgerLine& line : ledger.lines)
        if (line.type == objects::ObjectType::resource && line.attribute == kChecked)
            names.push_back(line.object);
    return names;
}

std::string to_text(const Ledger& ledger) {
    std::string out;
    for (const LedgerLine& line : ledger.lines) {
        const auto part = std::ranges::find(kParts, line.part, [](const auto& entry) { return entry.first; });
        out += fmt::format("{}\t{}\t{}\t{}\t{}\n", part->second, objects::type_name(line.type), line.object,
                           line.attribute, line.value);
    }
    return out;
}

Ledger ledger_from_text(std::string_view text) {
    Ledger ledger;
    for_each_line(text, [&](std::string_view line, int) {
        const auto fields = fields_of(line);
        if (fields.size() != 5) return;
        const auto part =
            std::ranges::find(kParts, fields[0], [](const auto& entry) { return entry.second; });
        const auto type = objects::type_from_word(fields[1]);
        if (part == kParts.end() || !type) return;
        ledger.lines.push_back(
            {part->first, *type, std::string(fields[2]), std::string(fields[3]), std::string(fields[4])});
    });
    return ledger;
}

}  // namespace pbs::migrate
