// The allocations of groups at an Origin system, SCHED_ACCT_DIR/allocations (sched-config guide,
// "SCHED_ACCT_DIR").
//
// Format: a line for each group, its three fields parted by '=':
//
//     P= title of the research = group = node-hours
//
// -1.0 is an unlimited allocation, 0.0 none at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

struct Allocation {
    std::string group;
    std::string title;
    double node_hours = 0;
    int line = 0;

    bool unlimited() const { return node_hours < 0; }
};

struct Allocations {
    std::string file;
    std::vector<Allocation> groups;  // in the order of the file, each group once
    std::vector<std::string> notes;  // groups that the file names twice: the last line counts
    // Lines that don't begin with P=, have too few fields, name no group, or have no number as allocation.
    // They are left out.
    Problems mistakes;
};

// Reads the text of a file; `file` is its name in messages.
Allocations parse_allocations(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
