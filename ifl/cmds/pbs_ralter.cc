// pbs_ralter: changes a reservation.

#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/reservation.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"pbs_ralter",
                               "usage: pbs_ralter [-I seconds] [-m mail_points] [-M mail_list]\n"
                               "                  [-N reservation_name] [-R start_time] [-E end_time]\n"
                               "                  [-U [+|-]user[,[+|-]user...]]\n"
                               "                  [-G [+|-]group[,[+|-]group...]]\n"
                               "                  [-D duration] [-q @server] reservation_identifier\n"
                               "       pbs_ralter --help | --version\n"};
    auto options = parse_arguments(kProgram, arguments_of(argc, argv), [](const auto& arguments) {
        return parse_alter_reservation(arguments, std::time(nullptr));
    });
    if (!options) return options.error();
    if (options->operands.size() != 1)
        return usage_error(kProgram, {"expected one reservation identifier", 2});
    const auto id = parse_reservation_id(options->operands.front());
    if (!id) return usage_error(kProgram, {id.error().message, 2});
    if (options->attributes.empty()) return usage_error(kProgram, {"nothing is to be changed", 2});
    const auto connection = Connection::open(id->server.empty() ? options->server : id->server);
    if (!connection) return failed(kProgram, connection.error());
    const std::unique_ptr<char, decltype(&std::free)> answer(
        pbs_modify_resv(connection->handle(), id->name.c_str(), options->attributes.operations(),
                        options->is_forced ? "force" : nullptr),
        &std::free);
    if (answer == nullptr) {
        const int code = pbs_errno;
        complain(kProgram, fmt::format("{} {}", connection->error_text(),
                                       shown_reservation_id(*id, connection->server())));
        return exit_status(code);
    }
    fmt::print("pbs_ralter: {}\n", answer.get());
    return 0;
}
