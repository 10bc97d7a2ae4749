// Accounting logs of a PBS server, as traces: the jobs that ended, as their E records tell of them.
//
//   MM/DD/YYYY HH:MM:SS;E;12.server;user=ann group=staff queue=workq ctime=... etime=... start=... end=...
//       Resource_List.ncpus=4 Resource_List.walltime=01:00:00 ...
//
// The format of PBS (PBS Professional Reference Guide, "Accounting"), which pbs_server writes too.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/trace.h"

namespace pbs::simulate {

struct LogText {
    std::string name;  // of the file
    std::string text;
};

// A job was submitted when it became eligible (etime), or else when it was made (ctime); ran from start to
// end; and was submitted to the queue of its Q record, or else of its E record. Of a job that ran several
// times the last run counts. Left out and counted are jobs without an E record: deleted before they ran, or
// running still.
//
// Files may come in any order. Errors: a line that isn't a record, or an E record that lacks what a job needs
// or has a value that can't be read; with file, line and column.
Result<Trace> read_accounting(const std::vector<LogText>& logs);

}  // namespace pbs::simulate
