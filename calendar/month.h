// A month at a glance: what each day is, for a terminal and as a picture.
#ifndef PBSPOLICY_CALENDAR_MONTH_H
#define PBSPOLICY_CALENDAR_MONTH_H

#include <string>
#include <string_view>
#include <vector>

#include "calendar/site.h"

namespace pbs::calendar {

// What a moment is; dedicated time goes before prime time.
enum class Phase { non_prime, prime, dedicated };
// "non-prime time", "prime time", "dedicated time".
std::string_view phase_text(Phase phase);

// A part of a day, in minutes of the clock on the wall from 0 to 1440.
struct DayPart {
    int from;
    int to;
    Phase phase;
    friend bool operator==(const DayPart&, const DayPart&) = default;
};

struct MonthDay {
    rrule::LocalDay day;
    bool non_work = false;
    // Covers the day from 0 to 1440 without gaps or overlaps. Where the clock is set, the parts are as the
    // clock shows them: what comes twice is there once.
    std::vector<DayPart> parts;
};

struct Month {
    std::chrono::year_month month;
    std::string server;
    std::string zone;
    std::vector<MonthDay> days;
};

Month make_month(const Site& site, std::chrono::year_month month);

// A line a day with a bar of 48 half hours, each shown as what it begins with: '#' prime, '.' non-prime, 'D'
// dedicated time; non-work days have a '*'. With `colour` in ANSI colours too.
std::string to_terminal(const Month& month, bool colour);

// The same to the minute, as a file of SVG (1.1) with a legend; each part has its hours as a tooltip.
std::string to_svg(const Month& month);

}  // namespace pbs::calendar

#endif
