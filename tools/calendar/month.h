// A month at a glance: what each day is, for a terminal and as a picture.
#ifndef PBSPOLICY_CALENDAR_MONTH_H
#define PBSPOLICY_CALENDAR_MONTH_H

#include <array>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/site.h"

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
    std::string name{};   // of the non-work day, if it has one
    std::string clock{};  // "clock set from 03:00 to 02:00"; empty on other days
    // Covers the day from 0 to 1440 without gaps or overlaps, minutes in which something is open being open
    // as a whole. Where the clock is set, the parts are as the clock shows them: what comes twice is there
    // once, and open if it is so at either time.
    std::vector<DayPart> parts{};

    // What is said beside the day: its name, and how the clock is set.
    std::string remark() const;
};

// When a queue with time_windows is open: minutes of each day, ascending and apart.
struct OpenTime {
    int from;
    int to;
    friend bool operator==(const OpenTime&, const OpenTime&) = default;
};
struct QueueMonth {
    std::string name;
    std::string windows;                      // their names
    std::vector<std::vector<OpenTime>> days;  // of the month, in order
};

// The policy of a scheduler in each phase.
struct PhasePolicies {
    std::string sched;
    std::array<std::string, 3> policies;  // by Phase

    // "sched default: policy p1 in prime time, p2 in non-prime time, p1 in dedicated time", in short where
    // one policy is in force at all times.
    std::string text() const;
};

struct Month {
    std::chrono::year_month month;
    std::string server;
    std::string zone;
    std::vector<MonthDay> days;
    std::vector<PhasePolicies> policies{};
    std::vector<QueueMonth> queues{};
};

Month make_month(const Site& site, std::chrono::year_month month);

// "December 2026"; and the date of a day as fmt prints it ("%a %d").
std::string title_of(std::chrono::year_month month);
std::tm date_of(rrule::LocalDay day);
// "06:05"
std::string minute_text(int minute);

// A line a day with a bar of 48 half hours, each shown as what it begins with, or as the shortest part that
// lies within it: '#' prime, '.' non-prime, 'D' dedicated time; non-work days have a '*' and their name. Then
// the policies and the hours of queues. With `colour` in ANSI colours too.
std::string to_terminal(const Month& month, bool colour);

// The same to the minute, as a file of SVG (1.1) with a legend; each part has its hours as a tooltip. Queues
// have a thin bar each below the day's.
std::string to_svg(const Month& month);

}  // namespace pbs::calendar

#endif
