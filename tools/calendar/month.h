// A month at a glance: what each day is, for a terminal and as a picture.
#pragma once

#include <array>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/site.h"

namespace pbs::calendar {

// The kind of time at a moment. Where dedicated and prime time overlap, it is dedicated time.
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
    // The parts cover the day from 0 to 1440 without gaps or overlaps. A minute in which something is open
    // counts as open as a whole. On a day on which the clock is set, parts are as the clock shows them: a
    // reading that comes twice is there once, and is open if it is open either time.
    std::vector<DayPart> parts{};

    // Remarks on the day: its name as a holiday, and how the clock is set on it.
    std::string remark() const;
};

// When a queue with time_windows is open, or a reservation has its time: minutes of each day, ascending and
// apart.
struct OpenTime {
    int from;
    int to;
    friend bool operator==(const OpenTime&, const OpenTime&) = default;
};
struct QueueMonth {
    std::string name;
    std::string windows;                      // their names; empty: it is a reservation
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
    std::vector<QueueMonth> queues{};  // then reservations, those with a part in the month
};

Month make_month(const Site& site, std::chrono::year_month month);

// "December 2026"; and the date of a day as fmt prints it ("%a %d").
std::string title_of(std::chrono::year_month month);
std::tm date_of(rrule::LocalDay day);
// "06:05"
std::string minute_text(int minute);

// The month as text. Each day is a line with a bar of 48 half hours: '#' prime, '.' non-prime, 'D' dedicated
// time. A half hour shows the part that it begins with, or the shortest part that lies within it. Non-work
// days have a '*' and their name. The policies and the hours of queues and reservations follow. With
// `colour`, bars are in ANSI colours too.
std::string to_terminal(const Month& month, bool colour);

// The month as a picture (SVG 1.1) with a legend. Bars are exact to the minute, and each part has its hours
// as a tooltip. Each queue and reservation has a thin bar below that of the day.
std::string to_svg(const Month& month);

}  // namespace pbs::calendar
