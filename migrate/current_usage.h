// Reads the usage of groups since the start of the year at an Origin system, SCHED_ACCT_DIR/current
// (sched-config guide, "SCHED_ACCT_DIR").
//
// Format: a line for each user in each group:
//
//     user group jobs node-hours
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

struct CurrentUse {
    std::string user;
    std::string group;
    std::int64_t jobs = 0;
    double node_hours = 0;
    int line = 0;
};

struct CurrentUsage {
    std::string file;
    std::vector<CurrentUse> uses;  // in the order of the file
    Problems mistakes;  // lines with missing or surplus words, or a word in place of a number; left out

    // Returns the sum of each group's uses, in node-hours.
    std::map<std::string, double> groups() const;
};

// Reads the text of a file; `file` is its name in messages.
CurrentUsage parse_current_usage(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
