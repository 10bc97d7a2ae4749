// Makes the report of tickets against CPU time.
#pragma once

#include "tools/simulate/report.h"

namespace pbs::simulate {

TicketReport make_ticket_report(const Trace& trace, const Schedule& run);

}  // namespace pbs::simulate
