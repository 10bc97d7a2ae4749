// Makes an overview of a month: the kinds of time of each day, for a terminal or as a picture.
#pragma once

#include <array>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/site.h"

namespace pbs::calendar {

// The kind of time at a moment. If it is dedicated and prime time at once, it counts as dedicated time.
enum class Phase { non_prime, prime, dedicated };
// Returns a phase's name: "non-prime time", "prime time", "dedicated time".
std::string_view phase_text(Phase phase);

// A part of a day, in minutes from 0 to 1440 by the readings of the clock.
struct DayPart {
    int from;
    int to;
    Phase phase;
    friend bool operator==(const DayPart&, const DayPart&) = default;
};

struct MonthDay {
    rrule::LocalDay day;
    bool non_work = false;
    std::string name{};   // name of the non-work day, if it has one
    std::string clock{};  // "clock set from 03:00 to 02:00"; empty: it isn't set on this day
    // The parts cover the day from 0 to 1440 without gaps and overlaps. A minute has a phase if the phase
    // holds at any time within it. On a day on which the clock is set, the parts follow its readings: a
    // reading that comes twice is there once, and has the phase of either time.
    std::vector<DayPart> parts{};

    // Returns remarks on the day: its name as a non-work day, and a change of the clock.
    std::string remark() const;
};

// A span of a day, in minutes, in which a queue with time_windows is open, or to which a reservation extends.
// The spans of a day ascend and don't touch.
struct OpenTime {
    int from;
    int to;
    friend bool operator==(const OpenTime&, const OpenTime&) = default;
};
struct QueueMonth {
    std::string name;
    std::string windows;                      // names of the windows; empty for a reservation
    std::vector<std::vector<OpenTime>> days;  // by day of the month
};

// The policies of a scheduler in each phase.
struct PhasePolicies {
    std::string sched;
    std::array<std::string, 3> policies;  // by Phase

    // Returns a text such as "sched default: policy p1 in prime time, p2 in non-prime time, p1 in dedicated
    // time", or a shorter one if one policy is always in force.
    std::string text() const;
};

struct Month {
    std::chrono::year_month month;
    std::string server;
    std::string zone;
    std::vector<MonthDay> days;
    std::vector<PhasePolicies> policies{};
    std::vector<QueueMonth> queues{};  // queues first, then the reservations with a part in the month
};

Month make_month(const Site& site, std::chrono::year_month month);

// Returns the title of a month: "December 2026".
std::string title_of(std::chrono::year_month month);
std::tm date_of(rrule::LocalDay day);
// Returns a time of day: "06:05".
std::string minute_text(int minute);

// Formats the month as text. Each day is a line with a bar of 48 half hours: '#' for prime, '.' for
// non-prime, 'D' for dedicated time. A half hour shows the phase at its beginning, or that of the shortest
// part within it. Non-work days have a '*' and their name. The policies, and the hours of queues and
// reservations, follow. With `colour`, the bars have ANSI colours, too.
std::string to_terminal(const Month& month, bool colour);

// Draws the month as a picture (SVG 1.1) with a legend. Bars are exact to the minute, and each part has its
// hours as a tooltip. Below a day's bar, each queue and reservation has a thin bar.
std::string to_svg(const Month& month);

}  // namespace pbs::calendar
