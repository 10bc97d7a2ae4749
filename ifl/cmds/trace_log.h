// Finds the lines about a job in the logs and accounting files of a day, for tracejob.
#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct TraceLine {
    std::string date;  // as in the file: "MM/DD/YYYY HH:MM:SS", in a log possibly with ".uuuuuu"
    char file = 'S';   // the kind of file: A accounting, S server, M mom, L scheduler
    unsigned event = 0;
    std::string job;  // the identifier as in the line
    std::string text;

    bool operator==(const TraceLine&) const = default;
};

// Adds the lines about `job`, a number or a whole identifier, to `lines`.
void find_trace_lines(std::istream& in, char file, std::string_view job, std::vector<TraceLine>& lines);

// Sorts the lines by time. Accounting has no fractions of seconds: its lines come last in their second.
void sort_trace_lines(std::vector<TraceLine>& lines);

// Removes messages that occur `excessive` times or more, except the last of each.
void drop_excessive(std::vector<TraceLine>& lines, std::size_t excessive);

// The events of an argument of -f: a name such as "job", or a hexadecimal number; nullopt: there are no such
// events.
std::optional<unsigned> event_mask(std::string_view name);

// Returns the lines as tracejob prints them, wrapped at blanks to `width` columns; 0: not wrapped.
// Unprintable characters are shown as by printable().
std::string trace_text(const std::vector<TraceLine>& lines, std::size_t width);

}  // namespace pbs::cmds
