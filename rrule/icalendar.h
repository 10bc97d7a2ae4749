// Reads and writes calendars. Files of iCalendar (RFC 5545) with whole-day events, such as lists of public
// holidays, are read as non-work days. The times in which windows are open are written as events. libical
// handles the syntax.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/window.h"

namespace pbs::rrule {

// A whole-day event as an entry of the attribute non_work_days.
struct HolidayEvent {
    std::string summary;
    // A recurrence with its DURATION, or MM/DD/YYYY for a single day, and the event's name if it has one. An
    // event of several days that doesn't recur has an entry for each day; an event with several rules has one
    // for each rule.
    std::string entry;
};

// An event that wasn't read, with the reason.
struct SkippedEvent {
    std::string summary;  // the event's UID if it has no summary
    std::string why;
};

struct HolidayCalendar {
    std::vector<HolidayEvent> holidays;
    std::vector<SkippedEvent> skipped;
};

// Reads VCALENDAR text: VEVENTs with a DATE for DTSTART, with DTEND or DURATION, RRULE, RDATE and EXDATE.
// Skips, with the reason: events with a time of day, cancelled ones, changed occurrences of another event
// (RECURRENCE-ID), events with EXRULE, and with rules that Recurrence refuses. `zone` is the server's.
// libical's messages to standard error are suppressed meanwhile. Errors: text that is no calendar, or has
// lines that aren't iCalendar (the message gives libical's reason); mistakes in properties that don't matter
// for the days are ignored.
Result<HolidayCalendar> read_holidays(std::string_view text, const Zone& zone);

// Events to be written by write_calendar().
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
