// Checks the lines of a calendar file (RFC 5545 3.1) for mistakes that libical doesn't report: libical
// accepts an END without a BEGIN, and turns dates that don't exist into others. Internal to rrule/.
#pragma once

#include <optional>
#include <string_view>

#include "rrule/error.h"

namespace pbs::rrule {

// The first END that has no matching BEGIN, with its line.
std::optional<Error> nesting_error(std::string_view calendar);

// The first date, time or duration that doesn't exist, such as 20270230, in a property that determines days:
// DTSTART, DTEND, DUE, RECURRENCE-ID, RDATE, EXDATE, DURATION, and UNTIL in a rule. The error names its line
// and component.
std::optional<Error> date_error(std::string_view calendar);

}  // namespace pbs::rrule
