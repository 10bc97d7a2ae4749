// Lists the spans of time in which policies are in force, windows are open, and dedicated time, prime time,
// non-work days and reservations last.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/site.h"

namespace pbs::calendar {

enum class Kind { policy, prime, dedicated, window, non_work_day, reservation };

// Returns a kind's name in JSON: "policy", "prime_time", "dedicated_time", "time_window", "non_work_day",
// "reservation".
std::string_view kind_text(Kind kind);

// A span of time within the requested range.
struct Span {
    rrule::Interval when;
    Kind kind;
    std::string name;      // scheduler, window, non-work day or reservation; empty for other kinds
    std::string detail;    // the policy's name; the queues of a window
    bool earlier = false;  // begins before the range
    bool later = false;    // ends after the range
};

// Returns all spans that overlap [a, b), sorted by their beginning, then kind, then name.
std::vector<Span> spans(const Site& site, rrule::Instant a, rrule::Instant b);

// Formats the spans for a terminal, a line each, with times in the server's zone.
std::string to_text(const Site& site, const std::vector<Span>& list, rrule::Instant a, rrule::Instant b);
// Formats the spans as JSON: {"server":..., "time_zone":..., "from":..., "to":..., "spans":[...]}. Each time
// is there as RFC 3339 in UTC and as local text.
std::string to_json(const Site& site, const std::vector<Span>& list, rrule::Instant a, rrule::Instant b);

// Makes a calendar file (iCalendar) of a range, with an event for each opening of a window, each non-work day
// and each reservation. `stamp`: when the file is made.
std::string to_icalendar(const Site& site, rrule::Instant a, rrule::Instant b, rrule::Instant stamp);

// Formats an instant as a clock in the zone shows it: "Mon 2026-11-23 08:00:00". Midnight is 00:00:00. If the
// clock shows the same reading twice, the offset from UTC is added: "Sun 2026-10-25 02:30:00+02:00".
std::string local_text(const rrule::Zone& zone, rrule::Instant t);

}  // namespace pbs::calendar
