#include "migrate/report.h"

#include <algorithm>

namespace pbs::migrate {

bool Report::changed() const {
    return std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.changed; });
}

std::string to_text(const Report& report) {
    std::string out;
    const auto count = std::count_if(report.lines.begin(), report.lines.end(),
                                     [](const auto& line) { return line.changed; });
    for (const Report::Line& line : report.lines)
        out += line.source + " -> " + line.target + " = " + line.value +
               (line.changed ? "\n" : " (already so)\n");
    for (const std::string& note : report.notes) out += "note: " + note + "\n";
    if (report.lines.empty()) return out + "There was nothing to migrate.\n";
    if (count == 0) return out + "Nothing was changed: everything is there already.\n";
    return out + std::to_string(count) + (count == 1 ? " value was set.\n" : " values were set.\n");
}

}  // namespace pbs::migrate
