// pbs_rstat: shows reservations.

#include <ctime>
#include <string>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/options.h"
#include "ifl/cmds/reservation.h"
#include "ifl/cmds/text.h"

namespace {

using namespace pbs::cmds;

constexpr Program kProgram{"pbs_rstat",
                           "usage: pbs_rstat [-B | -f | -F | -S] [reservation_identifier...]\n"
                           "       pbs_rstat --help | --version\n"};

struct Listing {
    char how = 'S';  // the option -B, -F or -S
    std::time_t now = 0;
    bool has_heading = false;
};

// Returns whether the server's job numbers have more than seven digits. The columns of identifiers are then
// wider.
bool is_wide(const Connection& connection) {
    constexpr long long kLargestOfSeven = 9999999;
    AttrList wanted;
    wanted.add(ATTR_max_job_sequence_id, "", "");
    const StatusList server(pbs_statserver(connection.handle(), wanted.attributes(), nullptr));
    if (server == nullptr) return false;
    const auto largest = value_of(server->attribs, ATTR_max_job_sequence_id);
    return largest && parse_integer(*largest).value_or(0) > kLargestOfSeven;
}

// Prints one reservation, or all if `reservation` is null.
int show(const Connection& connection, const char* reservation, Listing& shown) {
    const StatusList list(pbs_statresv(connection.handle(), reservation, nullptr, nullptr));
    if (list == nullptr && pbs_errno != 0) {
        const int code = pbs_errno;
        complain(kProgram, connection.error_text());
        return exit_status(code);
    }
    const bool wide = shown.how == 'S' && list != nullptr && is_wide(connection);
    for (const batch_status* one = list.get(); one != nullptr; one = one->next) {
        if (shown.how == 'B') {
            fmt::print("Resv ID: {}\n", printable(view(one->name)));
        } else if (shown.how == 'F') {
            fmt::print("{}", reservation_in_full(*one));
        } else {
            fmt::print("{}{}", shown.has_heading ? "" : reservation_heading(wide),
                       reservation_line(*one, shown.now, wide));
            shown.has_heading = true;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = arguments_of(argc, argv);
    if (information_asked(kProgram, arguments)) return 0;
    const auto line = parse_options("fFBS", arguments);
    if (!line) return usage_error(kProgram, {line.error().message, 1});
    Listing shown;
    shown.now = std::time(nullptr);
    for (const Option& option : line->options) shown.how = option.letter == 'f' ? 'F' : option.letter;
    const auto names = line->all_operands();
    if (names.empty()) {
        const auto connection = Connection::open("");
        if (!connection) return failed(kProgram, connection.error());
        return show(*connection, nullptr, shown);
    }
    return for_each_reservation(kProgram, names, [&](const Connection& connection, const ReservationId& id) {
        return show(connection, id.name.c_str(), shown);
    });
}
