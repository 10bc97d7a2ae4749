#include "server_plugin/host/state/executable.h"

#include <vector>

#include "text/xml.h"

namespace pbs::host {
namespace {

// Returns the texts of the elements in `xml`, a list of elements without further elements in them.
std::vector<std::string> elements(std::string_view xml) {
    std::vector<std::string> out;
    while (true) {
        const auto open = xml.find('<');
        if (open == std::string_view::npos) return out;
        const auto open_end = xml.find('>', open);
        if (open_end == std::string_view::npos) return out;
        const auto close = xml.find("</", open_end);
        if (close == std::string_view::npos) return out;
        out.push_back(text::from_xml(xml.substr(open_end + 1, close - open_end - 1)));
        const auto close_end = xml.find('>', close);
        if (close_end == std::string_view::npos) return out;
        xml.remove_prefix(close_end + 1);
    }
}

std::string shell_quoted(std::string_view word) {
    std::string out = "'";
    for (char c : word) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out + "'";
}

}  // namespace

std::string script_of_executable(const Job& job) {
    const std::string_view text = job.attributes.text("executable");
    if (text.empty()) return {};
    // Some clients send the program's name without XML.
    const auto program = text.front() == '<' ? elements(text) : std::vector<std::string>{std::string(text)};
    if (program.empty()) return {};
    std::string script = "exec " + shell_quoted(program.front());
    for (const std::string& argument : elements(job.attributes.text("argument_list")))
        script += " " + shell_quoted(argument);
    return script + "\n";
}

}  // namespace pbs::host
