// The Standard Workload Format, version 2.2, of the Parallel Workloads Archive (D. Feitelson,
// https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): 18 numbers a line, -1 for what isn't known,
// and comments that begin with a semicolon, of which those at the beginning may be "; Key: value".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tools/simulate/trace.h"

namespace pbs::simulate {

struct SwfOptions {
    // The names of queues by their numbers in the trace, before those of "; Queue: NUMBER NAME" comments. A
    // number without a name is the default queue.
    std::map<std::int64_t, std::string> queues{};
};

// `name` is the file's, for messages.
//
// A job asks for the requested processors, or else the allocated ones, and for requested memory (or else what
// it used) by processor. Left out and counted are jobs that never ran, those without a number of processors,
// and the lines on parts of a job (status 2, 3, 4), whose whole is a line of its own. Fields 17 and 18
// (preceding job, think time) are not looked at: each job is submitted when it was. Without UnixStartTime the
// trace begins on Monday 2001-01-01 00:00:00 UTC.
//
// Errors: a field that is missing, too many, no number, or out of range, with line and column.
Result<Trace> read_swf(std::string_view text, std::string_view name, const SwfOptions& options = {});

}  // namespace pbs::simulate
