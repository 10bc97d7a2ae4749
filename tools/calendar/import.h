// Plans the import of public holidays from a calendar file into the server's non_work_days.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/icalendar.h"
#include "tools/calendar/site.h"

namespace pbs::calendar {

struct PlannedDay {
    rrule::HolidayEvent event;
    std::string rule;                     // the entry in the form in which the server stores it
    std::optional<rrule::LocalDay> next;  // the first of its days from today on; nullopt: all are past
};

struct ImportPlan {
    std::vector<PlannedDay> added;
    std::vector<PlannedDay> there;  // days that are in non_work_days, or earlier in the file
    std::vector<PlannedDay> past;   // days of the past: not added
    std::vector<rrule::SkippedEvent> skipped;
};

// Plans the import of a calendar file; changes nothing. Errors: the text is no calendar.
Result<ImportPlan> plan_import(std::string_view calendar, const Site& site, rrule::Instant now);

// Returns the days to add, as entries of non_work_days.
std::vector<std::string> entries(const ImportPlan& plan);

// Formats the plan for a person to check, a line for each event.
std::string to_text(const ImportPlan& plan);

}  // namespace pbs::calendar
