// Reads the allocations of groups at an Origin system, SCHED_ACCT_DIR/allocations: the node-hours that each
// group may use (sched-config guide, "SCHED_ACCT_DIR").
//
// Format: a line for each group, with '=' between its three fields:
//
//     P= title of the research = group = node-hours
//
// An allocation of -1.0 is unlimited. With 0.0 the group may use nothing.
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
    std::vector<std::string> notes;  // a note for each repeated group: its last line counts
    // Lines that don't begin with P=, have too few fields, name no group, or have no number as allocation.
    // They are left out.
    Problems mistakes;
};

// Reads the text of a file; `file` is its name in messages.
Allocations parse_allocations(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
