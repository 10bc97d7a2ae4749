// Reads dates and times from the command line.
#pragma once

#include <string_view>

#include "tools/calendar/site.h"

namespace pbs::calendar {

// Reads YYYY-MM-DD, YYYY-MM-DD HH:MM or YYYY-MM-DD HH:MM:SS in the zone, with a blank or a T before the time,
// and a year from 1601 to 9998. Errors name the text and the expected form.
Result<rrule::Instant> parse_time(std::string_view text, const rrule::Zone& zone);

// Reads YYYY-MM.
Result<std::chrono::year_month> parse_month(std::string_view text);

}  // namespace pbs::calendar
