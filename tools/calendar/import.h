// Public holidays of a calendar file, held against the server's non_work_days.
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
    std::string rule;                     // as the server will keep it
    std::optional<rrule::LocalDay> next;  // its first day from today on; none: it is over
};

struct ImportPlan {
    std::vector<PlannedDay> added;
    std::vector<PlannedDay> there;  // the same entry is in non_work_days already, or twice in the file
    std::vector<PlannedDay> past;   // it gives no day from today on, so it isn't added
    std::vector<rrule::SkippedEvent> skipped;
};

// What reading a calendar file would do. Nothing is changed. Errors: text that is no calendar.
Result<ImportPlan> plan_import(std::string_view calendar, const Site& site, rrule::Instant now);

// What is to be added, as entries of non_work_days.
std::vector<std::string> entries(const ImportPlan& plan);

// The plan for a person to look over, one line an event.
std::string to_text(const ImportPlan& plan);

}  // namespace pbs::calendar
