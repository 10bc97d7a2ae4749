// The process that runs one start of a job. runner.h describes the files that it shares with the server, and
// shepherd.cc its work. Its program, pbs_shepherd, is small, because each running job has two such processes,
// the shepherd and its warden. Test programs serve as their own pbs_shepherd.
#pragma once

#include <string>

#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Was this process started as a launcher, or to clean up (shepherd_protocol.h)? Call it first in main().
bool is_shepherd(int argc, char** argv);

// Runs the launcher or the cleaner. Returns the process's exit code.
int shepherd_main(int argc, char** argv);

// Makes this process the warden of a start, and forks the shepherd, which runs the job. Returns the exit code
// of the process. REQUIRES: the process has one thread, all signals are blocked, kShepherdNotifyFd is open.
int supervise(const std::string& home, const RunId& id);

}  // namespace pbs::host
