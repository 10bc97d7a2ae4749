// Dates and durations as the commands read and print them.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

// The fields of a time in the system's zone.
std::tm local_time(std::time_t when);

// Reads [[[[CC]YY]MM]DD]hhmm[.SS] in the system's zone, as option -a takes it. Missing parts come from `now`,
// and a time that has passed already means the next one: tomorrow, in the next month or in the next year. A
// year of two digits above 68 is in the 20th century.
Result<std::time_t> parse_date(std::string_view text, std::time_t now);

// Reads seconds since the Epoch as digits, or YYYY-MM-DD[{T| }HH:MM[:SS]] in the system's zone, or in UTC
// with a Z after a time.
Result<std::time_t> parse_instant(std::string_view text);
// An instant as text, "2026-11-21 08:00:26", in the system's zone, for parse_instant() to read.
std::string instant_text(std::time_t when);

// Reads "[[HH:]MM:]SS[.fraction]" as seconds, rounded.
Result<long long> parse_duration(std::string_view text);

// An instant as text, "Sat Nov 21 08:00:26 2026", in the system's zone.
std::string date_text(std::time_t when);

// A start time in the five characters of qstat -T's column: "14:05" today, "Tu 14" within a week, the month
// within the year, the year within five years, then ">5yrs". "--" if it has passed, "?" for 0, which means
// unknown.
std::string start_time_text(std::time_t start, std::time_t now);

}  // namespace pbs::cmds
