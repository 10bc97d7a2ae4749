#include "ifl/cmds/hold_types.h"

#include <fmt/format.h>

#include "ifl/cmds/options.h"
#include "values/text.h"

namespace pbs::cmds {

Result<void> check_hold_types(std::string_view types) {
    const bool letters = !types.empty() && types.find_first_not_of("uospn") == std::string_view::npos;
    const bool none_alone = types.find('n') == std::string_view::npos || types == "n";
    if (!letters || !none_alone) {
        return fail(
            fmt::format("illegal -h value '{}': expected letters of u, o, s and p, or n alone", types));
    }
    return {};
}

Result<HoldRequest> parse_hold_options(const std::vector<std::string>& arguments) {
    const auto line = parse_options("h:", arguments);
    if (!line) return tl::unexpected(line.error());
    HoldRequest request;
    for (const Option& option : line->options) {
        request.types = values::trim(option.value);
        if (auto checked = check_hold_types(request.types); !checked) return tl::unexpected(checked.error());
    }
    request.jobs = line->all_operands();
    if (request.jobs.empty()) return fail("no job identifier");
    return request;
}

int run_hold_command(const Program& program, const std::vector<std::string>& arguments, HoldCall call) {
    const auto request = parse_arguments(program, arguments, parse_hold_options);
    if (!request) return request.error();
    return for_each_job(program, request->jobs, [&](const Connection& connection, const std::string& job) {
        return call(connection.handle(), job.c_str(), request->types.c_str(), nullptr);
    });
}

}  // namespace pbs::cmds
