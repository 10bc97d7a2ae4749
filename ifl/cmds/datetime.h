// Dates and durations as the commands take and show them.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

// [[[[CC]YY]MM]DD]hhmm[.SS] in the system's zone, as -a takes it. What is left out comes from `now`; a time
// that has passed already is then the next one: of tomorrow, the next month, the next year. A year of two
// digits above 68 is of the 20th century.
Result<std::time_t> parse_date(std::string_view text, std::time_t now);

// Seconds since the Epoch as digits, or YYYY-MM-DD[{T| }HH:MM[:SS]] in the system's zone, or with a Z behind
// it in UTC.
Result<std::time_t> parse_instant(std::string_view text);
// "2026-11-21 08:00:26" in the system's zone: parse_instant() reads it back.
std::string instant_text(std::time_t when);

// Seconds of "[[HH:]MM:]SS[.fraction]"; the fraction is dropped.
Result<long long> parse_duration(std::string_view text);

// "Sat Nov 21 08:00:26 2026" in the system's zone.
std::string date_text(std::time_t when);

// A start time in the five characters that a column of qstat -T has: "14:05" today, "Tu 14" within a week,
// the month within the year, then the year. "--" when it has passed, "?" for 0, which means unknown.
std::string start_time_text(std::time_t start, std::time_t now);

}  // namespace pbs::cmds
