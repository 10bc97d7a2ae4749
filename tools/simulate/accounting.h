// Reads a PBS server's accounting logs as a trace of the jobs that ended, from their E records.
//   MM/DD/YYYY HH:MM:SS;E;12.server;user=ann group=staff project=p1 queue=workq ctime=... etime=... start=...
//       end=...
//       Resource_List.ncpus=4 Resource_List.walltime=01:00:00 ...
//
// The format is that of PBS (PBS Professional Reference Guide, "Accounting"), which pbs_server writes too.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/trace.h"

namespace pbs::simulate {

struct LogText {
    std::string name;  // name of the file
    std::string text;
};

// Reads a trace. A job is submitted at its etime, when it became eligible, or else at its ctime, when it was
// created. It runs from start to end. Its queue is in the Q record, or else in the E record. If a job ran
// several times, the last run counts. Jobs without an E record, which were deleted before they ran or still
// run, are left out and counted.
//
// Files may come in any order. Errors: a line that is no record, or an E record with a missing or unreadable
// value; with file, line and column.
Result<Trace> read_accounting(const std::vector<LogText>& logs);

}  // namespace pbs::simulate
