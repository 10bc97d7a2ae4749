// Dates and times as they are typed on the command line.
#pragma once

#include <string_view>

#include "tools/calendar/site.h"

namespace pbs::calendar {

// YYYY-MM-DD, YYYY-MM-DD HH:MM or YYYY-MM-DD HH:MM:SS (a T may stand for the blank), in the zone. Years 1601
// to 9998. Errors name the text and what was expected.
Result<rrule::Instant> parse_time(std::string_view text, const rrule::Zone& zone);

// YYYY-MM.
Result<std::chrono::year_month> parse_month(std::string_view text);

}  // namespace pbs::calendar
