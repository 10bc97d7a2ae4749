// Lines about a job in the logs and accounting files of a day, for tracejob.
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
    std::string date;  // as the file has it: "MM/DD/YYYY HH:MM:SS", a log's with ".uuuuuu" perhaps
    char file = 'S';   // A accounting, S server, M mom, L scheduler
    unsigned event = 0;
    std::string job;  // the identifier as the line has it
    std::string text;

    bool operator==(const TraceLine&) const = default;
};

// The lines about `job`, a number or a whole identifier, are added to `lines`.
void find_trace_lines(std::istream& in, char file, std::string_view job, std::vector<TraceLine>& lines);

// Into the order of their times. Accounting has no parts of seconds: its lines come last in theirs.
void sort_trace_lines(std::vector<TraceLine>& lines);

// Of messages that come `excessive` times or more, only the last is left.
void drop_excessive(std::vector<TraceLine>& lines, std::size_t excessive);

// The events that a name of -f stands for, "job", or a hexadecimal number; nullopt: there are none such.
std::optional<unsigned> event_mask(std::string_view name);

// All of them as tracejob prints them: lines are wrapped at blanks to `width` columns; 0: they aren't. What
// can't be printed is shown as printable() has it.
std::string trace_text(const std::vector<TraceLine>& lines, std::size_t width);

}  // namespace pbs::cmds
