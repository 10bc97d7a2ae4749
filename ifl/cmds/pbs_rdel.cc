// pbs_rdel: deletes reservations, with their jobs.

#include <string>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/options.h"
#include "ifl/cmds/reservation.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"pbs_rdel",
                               "usage: pbs_rdel reservation_identifier...\n"
                               "       pbs_rdel --help | --version\n"};
    const auto line = command_line(kProgram, "", argc, argv);
    if (!line) return line.error();
    const auto names = line->all_operands();
    if (names.empty()) return usage_error(kProgram, {"no reservation identifier", 2});
    return for_each_reservation(kProgram, names, [&](const Connection& connection, const ReservationId& id) {
        const int code = pbs_delresv(connection.handle(), id.name.c_str(), nullptr);
        if (code == 0) return 0;
        complain(kProgram, fmt::format("{} {}", connection.error_text(),
                                       shown_reservation_id(id, connection.server())));
        return exit_status(code);
    });
}
