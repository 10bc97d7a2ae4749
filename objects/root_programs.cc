#include "objects/root_programs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "objects/program_file.h"
#include "values/text.h"

namespace pbs::objects {

std::string dynamic_resource(std::string_view text) {
    const auto mark = text.find('!');
    if (mark == std::string_view::npos) return std::string(values::trim(text));
    return fmt::format("{} !{}", values::trim(text.substr(0, mark)), values::trim(text.substr(mark + 1)));
}

RootPrograms root_programs_in(std::string_view text) {
    RootPrograms out;
    while (!text.empty()) {
        const std::string_view line = values::trim(values::take_line(text));
        if (!line.empty() && line.front() != '#') out.insert(dynamic_resource(line));
    }
    return out;
}

tl::expected<RootPrograms, std::string> read_root_programs(const std::string& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0 && errno == ENOENT) return RootPrograms{};
    const auto file = roots_file(path);
    if (!file) return tl::unexpected(file.error());
    std::ifstream in(*file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return root_programs_in(text.str());
}

}  // namespace pbs::objects
