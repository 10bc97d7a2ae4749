// The lines of a calendar file (RFC 5545 3.1) as they are written. libical puts up with an END that ends
// nothing, and makes other dates of those that don't exist. Internal to rrule/.
#pragma once

#include <optional>
#include <string_view>

#include "rrule/error.h"

namespace pbs::rrule {

// The first END that ends nothing, with its line.
std::optional<Error> nesting_error(std::string_view calendar);

// The first date, time or duration that doesn't exist, such as 20270230, of a property that tells days:
// DTSTART, DTEND, DUE, RECURRENCE-ID, RDATE, EXDATE, DURATION, and UNTIL in a rule. With its line and
// component.
std::optional<Error> date_error(std::string_view calendar);

}  // namespace pbs::rrule
