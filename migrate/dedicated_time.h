// Reads the dedicated_time file of the schedulers of PBS and TORQUE, sched_priv/dedicated_time (OpenPBS,
// src/scheduler/pbs_dedicated and dedtime.cpp).
//
// Format: a line is empty; a comment, which begins with '#' or '*' after any white space; or
//
//     MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM
//
// with the beginning and the end of a dedicated time, in the server's zone. A year from 90 to 99 is one of
// the last century, a smaller one is of this century.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

// A period of dedicated time, in local time and whole minutes: from <= t < to.
struct DedicatedPeriod {
    std::chrono::local_seconds from{};
    std::chrono::local_seconds to{};
    int line = 0;
};

struct DedicatedTime {
    std::string file;
    std::vector<DedicatedPeriod> periods;  // in the order of the file
    // Mistakes: dates or times that don't exist, or an end that isn't after the start; these lines are left
    // out. A line with words behind the period is a mistake too, but its period counts, as in the older
    // schedulers.
    Problems mistakes;
};

// Reads the text of a file; `file` is its name in messages.
DedicatedTime parse_dedicated_time(std::string_view text, const std::string& file);

// A time_window of type dedicated, made from periods of dedicated time (dedicated_windows()). A period within
// one day becomes a window, and a longer period is cut at midnights. Days with the same hours share a window.
struct DedicatedWindow {
    std::string rrule;  // RDATE;VALUE=DATE:20270415,...
    int start = 0;      // minutes since midnight
    int end = 1440;
    int line = 0;  // line of its first period
};
std::vector<DedicatedWindow> dedicated_windows(const std::vector<DedicatedPeriod>& periods);

}  // namespace pbs::migrate
