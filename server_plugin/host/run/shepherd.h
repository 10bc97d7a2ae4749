// Runs one start of a job, by two processes: the shepherd, which runs the job, and its warden, which watches
// the shepherd. runner.h describes the files that they share with the server, and shepherd.cc the shepherd's
// work. Their program, pbs_shepherd, is small, because each running job has both processes. Test programs
// serve as their own pbs_shepherd.
#pragma once

#include <string>

#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Returns whether this process was started as a launcher or as a cleaner (shepherd_protocol.h). Call it first
// in main().
bool is_shepherd(int argc, char** argv);

// Runs the launcher or the cleaner. Returns the process's exit code.
int shepherd_main(int argc, char** argv);

// Makes this process the warden of a start, and forks the shepherd, which runs the job. Returns the exit code
// of this process, or in the shepherd that of the shepherd. REQUIRES: the process has one thread, all signals
// are blocked, kShepherdNotifyFd is open.
int supervise(const std::string& home, const RunId& id);

}  // namespace pbs::host
