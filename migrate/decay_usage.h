// Reads the past usage that the Origin scheduler kept, sched_priv/decay_usage.
//
// Format: the first line is the day of the week on which the file was written (Sat). Then a line for each
// user:
//
//     group:user node-hours
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

struct UserUsage {
    std::string group;
    std::string user;
    double amount = 0;  // in the unit of past_usage_charge
    int line = 0;
};

struct DecayUsage {
    std::string file;
    std::vector<UserUsage> users;    // in the order of the file, each pair of group and user once
    std::vector<std::string> notes;  // a note for each repeated pair: its last line counts
    Problems mistakes;               // lines without a user or without a number as amount; left out
};

// Reads the text of a file; `file` is its name in messages.
DecayUsage parse_decay_usage(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
