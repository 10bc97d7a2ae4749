// Reads the Standard Workload Format, version 2.2, of the Parallel Workloads Archive (D. Feitelson,
// https://www.cs.huji.ac.il/labs/parallel/workload/swf.html). A line has 18 numbers, -1 if unknown, or is a
// comment that begins with a semicolon. Comments before the first job may be "; Key: value".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tools/simulate/trace.h"

namespace pbs::simulate {

struct SwfOptions {
    // Names of queues by their numbers in the trace, in place of those in comments "; Queue: NUMBER NAME". A
    // queue without a name becomes the default queue.
    std::map<std::int64_t, std::string> queues{};
};

// Reads a trace; `name` is the file's name in messages.
//
// A job requests as many processors as it requested in the trace, or else as it was allocated, and for each
// processor the requested memory, or else the used one. Jobs that never ran or have no number of processors
// are left out and counted, and so are lines about parts of a job (status 2, 3, 4), since another line is
// about the whole job. Fields 17 and 18 (preceding job, think time) are ignored: each job is submitted at its
// recorded time. Without UnixStartTime the trace begins on Monday 2001-01-01 00:00:00 UTC.
//
// Errors, with line and column: a field that is missing, surplus, no number or out of range.
Result<Trace> read_swf(std::string_view text, std::string_view name, const SwfOptions& options = {});

}  // namespace pbs::simulate
