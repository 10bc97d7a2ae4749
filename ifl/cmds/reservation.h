// Does the common work of the commands about reservations: pbs_rsub, pbs_rstat, pbs_rdel, pbs_ralter.
#pragma once

#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/error.h"

namespace pbs::cmds {

// A reservation's id as users type it: R12[.server[:port]][@server[:port]]
struct ReservationId {
    std::string name;    // the part to send: "R12" or "R12.server"
    std::string server;  // the server to ask; empty: the default one
};
Result<ReservationId> parse_reservation_id(std::string_view text);
// The identifier for messages; one without a server gets `server`.
std::string shown_reservation_id(const ReservationId& id, std::string_view server);

// A function that makes a request about a reservation, prints its failure, and returns its exit status.
// for_each_reservation() calls it for each identifier of the command line, with a connection to the server
// that the identifier names, or to the default one, and returns the exit status of the last failure.
using ReservationRequest = std::function<int(const Connection& connection, const ReservationId& id)>;
int for_each_reservation(const Program& program, const std::vector<std::string>& names,
                         const ReservationRequest& request);

struct ReservationOptions {
    AttrList attributes;
    std::string server;  // from -q @server
    std::vector<std::string> operands;
    bool is_forced = false;  // -W force
    bool of_hosts = false;   // --hosts; the operands are the names of hosts
    std::string moved_job;   // -W qmove=: the job's id; empty: none
};
// These functions read the command lines of pbs_rsub and of pbs_ralter. `now` completes dates.
Result<ReservationOptions> parse_reservation_options(const std::vector<std::string>& arguments,
                                                     std::time_t now);
Result<ReservationOptions> parse_alter_reservation(const std::vector<std::string>& arguments,
                                                   std::time_t now);

// A time as text: "Today 14:05", "Fri 14:05" in the same week, else with the date, and in another year with
// the year.
std::string reservation_time_text(std::time_t when, std::time_t now);
// The name of a state for the number in reserve_state: "CO", or in full "RESV_CONFIRMED".
std::string reservation_state_text(std::string_view number, bool in_full);

// These functions write a reservation for pbs_rstat: a line of -S, or all attributes of -f. `wide`: with
// longer columns.
std::string reservation_heading(bool wide);
std::string reservation_line(const batch_status& reservation, std::time_t now, bool wide);
std::string reservation_in_full(const batch_status& reservation);

}  // namespace pbs::cmds
