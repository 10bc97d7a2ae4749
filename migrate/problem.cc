#include "migrate/problem.h"

#include <fmt/format.h>

#include <algorithm>

namespace pbs::migrate {

bool has_system_problem(const std::vector<Problem>& problems) {
    return std::ranges::any_of(problems, &Problem::system);
}

std::string note_of(const Problem& mistake) {
    return fmt::format("{}; {}", to_text(mistake), mistake.then);
}

std::string to_text(const Problem& problem) {
    std::string out = problem.file;
    if (problem.line > 0) out += fmt::format(":{}", problem.line);
    if (problem.column > 0) out += fmt::format(":{}", problem.column);
    if (!out.empty()) out += ": ";
    if (!problem.option.empty()) out += problem.option + ": ";
    return out + problem.message;
}

}  // namespace pbs::migrate
