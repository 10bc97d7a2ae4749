// Reads the output of a DEDICATED_TIME_COMMAND: the list of the coming dedicated times ("outages") of a host
// or of the whole system, as the `schedule` service of NAS writes it (sched-config guide,
// "DEDICATED_TIME_COMMAND"; origin-overview, "Dedicated Time").
//
//   GRUMPY       07/07/1999 16:00-19:00 07/07/1999  Large job runs (berferd)
//   HAPPY        07/09/1999 16:00-19:00 07/09/1999  Administrative period
//                                                   (preventive maintenance)
//
// An entry has a name, the date and time of its start, the time and date of its end, and a description, which
// goes on in lines that are indented further than the entry. Without entries the text is
//
//   No scheduled downtime for the specified period.
//
// or empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rrule/zone.h"
#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/error.h"

namespace pbs::sched {

// One dedicated time: [start, end).
struct Outage {
    Instant start{};
    Instant end{};
    std::string description{};
    bool of_system = false;  // an outage of SYSTEM_NAME, and not of the host alone
    friend bool operator==(const Outage&, const Outage&) = default;
};

// Returns the entries for `name` in the text, in order of their starts. Names are compared by
// same_host_name(). Times are wall-clock times in `zone`. Errors name the line and what was expected there;
// then no part of the text may be used.
Result<std::vector<Outage>> parse_outages(std::string_view text, std::string_view name,
                                          const rrule::Zone& zone);

}  // namespace pbs::sched
