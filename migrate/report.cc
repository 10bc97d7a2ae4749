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
    for (const Report::Line& line : report.lines) {
        out += line.source + " -> " + line.target;
        out += line.value.empty() ? " is taken back" : " = " + line.value;
        out += line.changed ? "\n" : " (already so)\n";
    }
    for (const std::string& note : report.notes) out += "note: " + note + "\n";
    if (report.lines.empty()) return out + "There was nothing to migrate.\n";
    if (count == 0) return out + "Nothing was changed: everything is there already.\n";
    const auto back = std::count_if(report.lines.begin(), report.lines.end(),
                                    [](const auto& line) { return line.changed && line.value.empty(); });
    const auto told = [](std::ptrdiff_t number, const char* what) {
        return std::to_string(number) + (number == 1 ? " value was " : " values were ") + what + ".\n";
    };
    if (count > back) out += told(count - back, "set");
    return back == 0 ? out : out + told(back, "taken back");
}

}  // namespace pbs::migrate
