#include "ifl/cmds/directives.h"

#include <algorithm>

#include "values/text.h"

namespace pbs::cmds {

namespace {

bool is_executable(std::string_view line) {
    if (!line.empty() && line.front() == ':') return false;
    const std::string_view content = values::trim(line);
    return !content.empty() && content.front() != '#';
}

}  // namespace

std::vector<ScriptDirective> find_directives(std::string_view script, std::string_view prefix) {
    std::vector<ScriptDirective> directives;
    std::size_t number = 0;
    while (!script.empty() && !prefix.empty()) {
        const std::size_t first = number + 1;
        std::string line;
        bool goes_on = true;
        while (goes_on && !script.empty()) {
            line += values::take_line(script);
            ++number;
            // a comment doesn't go on in the next line, which may be a directive
            goes_on = !line.empty() && line.back() == '\\' && values::trim(line).starts_with(prefix);
            if (goes_on) line.back() = ' ';
        }
        const std::string_view content = values::trim(line);
        if (content.substr(0, prefix.size()) == prefix)
            directives.push_back({first, std::string(values::trim(content.substr(prefix.size())))});
        else if (is_executable(line))
            break;
    }
    return directives;
}

std::string_view byte_order_mark(std::string_view script) {
    if (script.starts_with("\xef\xbb\xbf")) return "UTF-8";
    if (script.starts_with("\xff\xfe") || script.starts_with("\xfe\xff")) return "UTF-16";
    return {};
}

}  // namespace pbs::cmds
