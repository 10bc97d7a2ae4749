// Calendars in and out: files of iCalendar (RFC 5545) with whole-day events, such as lists of public
// holidays, are read as non-work days, and openings of windows are written as events. Syntax is libical's
// work.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/window.h"

namespace pbs::rrule {

// What one whole-day event says, as an entry of the attribute non_work_days.
struct HolidayEvent {
    std::string summary;
    // A recurrence with its DURATION, or MM/DD/YYYY for a single day, and the name if it has one. An event of
    // several days that doesn't recur has an entry for each of them, one with several rules one for each.
    std::string entry;
};

// An event that was left out.
struct SkippedEvent {
    std::string summary;  // its UID if it has none
    std::string why;
};

struct HolidayCalendar {
    std::vector<HolidayEvent> holidays;
    std::vector<SkippedEvent> skipped;
};

// Reads VCALENDAR text: VEVENTs with a DATE for DTSTART, with DTEND or DURATION, RRULE, RDATE and EXDATE.
// Left out, with the reason: events with a time of day, cancelled ones, changed occurrences of another event
// (RECURRENCE-ID), those with EXRULE, and rules that Recurrence refuses. `zone` is the server's. What libical
// writes to standard error is lost while this reads. Errors: text that is no calendar, or has lines that
// aren't iCalendar (the message gives libical's reason), but for properties that say nothing of the days.
Result<HolidayCalendar> read_holidays(std::string_view text, const Zone& zone);

// An event to be written.
struct TimedEvent {
    std::string uid;  // unique and stable: calendar programs replace an event by a later one of the same UID
    std::string summary;
    std::string category;
    Interval when;
};
struct DayEvent {
    std::string uid;
    std::string summary;
    std::string category;
    LocalDay day;
};

// The text of a VCALENDAR (lines end with CRLF and are folded at 75 octets, RFC 5545 3.1). Times are in UTC;
// days are dates. `stamp` is the DTSTAMP of all events, `name` the calendar's.
std::string write_calendar(std::string_view name, std::span<const TimedEvent> timed,
                           std::span<const DayEvent> days, Instant stamp);

}  // namespace pbs::rrule
