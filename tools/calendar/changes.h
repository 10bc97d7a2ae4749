// From when to when policies are in force and windows, dedicated time, prime time, non-work days and
// reservations last.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/site.h"

namespace pbs::calendar {

enum class Kind { policy, prime, dedicated, window, non_work_day, reservation };

// "policy", "prime_time", "dedicated_time", "time_window", "non_work_day", "reservation".
std::string_view kind_text(Kind kind);

// A span of time within the range that was asked for.
struct Span {
    rrule::Interval when;
    Kind kind;
    std::string name;      // of the scheduler, window, non-work day or reservation; empty for the others
    std::string detail;    // the policy's name; the queues of a window
    bool earlier = false;  // it began before the range
    bool later = false;    // it goes on after it
};

// All spans that have a part in [a, b), in the order of their beginnings, then kinds, then names.
std::vector<Span> spans(const Site& site, rrule::Instant a, rrule::Instant b);

// One line a span, for a terminal, with times of the server's zone.
std::string to_text(const Site& site, const std::vector<Span>& list, rrule::Instant a, rrule::Instant b);
// {"server":..., "time_zone":..., "from":..., "to":..., "spans":[...]}; times as RFC 3339 in UTC and as local
// text.
std::string to_json(const Site& site, const std::vector<Span>& list, rrule::Instant a, rrule::Instant b);

// The calendar file of a range: an event for each opening of a window, non-work day and reservation.
std::string to_icalendar(const Site& site, rrule::Instant a, rrule::Instant b, rrule::Instant stamp);

// "Mon 2026-11-23 08:00:00", as a clock in the zone shows it; 24:00:00 is not used. A reading that comes
// twice has the offset from UTC behind it: "Sun 2026-10-25 02:30:00+02:00".
std::string local_text(const rrule::Zone& zone, rrule::Instant t);

}  // namespace pbs::calendar
