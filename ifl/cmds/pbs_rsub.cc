// pbs_rsub: asks for a reservation.

#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/reservation.h"
#include "ifl/cmds/surroundings.h"
#include "ifl/cmds/text.h"

namespace {

using namespace pbs::cmds;

// Who asks from where, with what PBS tells of that.
std::string variables(const SubmitEnvironment& environment) {
    std::string list;
    const auto add = [&](const std::string& name, const std::string& value) {
        list += fmt::format("{}{}={}", list.empty() ? "" : ",", name, escape_variable(value));
    };
    const auto add_if_set = [&](const std::string& name, const char* variable) {
        if (const auto found = environment.variables.find(variable); found != environment.variables.end()) {
            add(name, found->second);
        }
    };
    add_if_set("PBS_O_LOGNAME", "LOGNAME");
    add("PBS_O_HOST", environment.host);
    add_if_set("PBS_O_MAIL", "MAIL");
    add_if_set("PBS_TZID", "PBS_TZID");
    return list;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr Program kProgram{
        "pbs_rsub",
        "usage: pbs_rsub [-I seconds] [-m mail_points] [-M mail_list]\n"
        "                [-N reservation_name] [-u user_list] [-g group_list]\n"
        "                [-U auth_user_list] [-G auth_group_list] [-H auth_host_list]\n"
        "                [-R start_time] [-E end_time] [-D duration] [-q @server]\n"
        "                [-r rrule_expression] [-W otherattributes=value...]\n"
        "                -l resource_list | --job job_identifier\n"
        "       pbs_rsub --help | --version\n"};
    const auto arguments = arguments_of(argc, argv);
    if (information_asked(kProgram, arguments)) {
        return 0;
    }
    auto options = parse_reservation_options(arguments, std::time(nullptr));
    if (!options) {
        return usage_error(kProgram, options.error());
    }
    if (arguments.empty() || !options->operands.empty()) {
        return usage_error(kProgram,
                           {options->operands.empty()
                                ? std::string("neither a time nor resources are asked for")
                                : fmt::format("unexpected argument {}", printable(options->operands.front())),
                            2});
    }
    const auto environment = submit_environment();
    if (!environment) {
        complain(kProgram, environment.error().message);
        return environment.error().status;
    }
    options->attributes.put(ATTR_v, "", variables(*environment));
    const auto connection = Connection::open(options->server);
    if (!connection) {
        complain(kProgram, connection.error().message);
        return connection.error().status;
    }
    const std::unique_ptr<char, decltype(&std::free)> answer(
        pbs_submit_resv(connection->handle(), options->attributes.operations(), nullptr), &std::free);
    if (answer == nullptr) {
        const int code = pbs_errno;
        complain(kProgram, connection->error_text());
        return exit_status(code);
    }
    fmt::print("{}\n", answer.get());
    return 0;
}
