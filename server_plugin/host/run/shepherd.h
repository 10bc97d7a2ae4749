// The process that runs one start of a job. runner.h tells what it shares with the server, shepherd.cc what
// it does. Its program is pbs_shepherd, kept small, as each running job has one such process and one more,
// its warden. Tests are their own pbs_shepherd.
#pragma once

#include <string>

#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Is this process to be a launcher, or to clean up (shepherd_protocol.h)? Ask it first in main().
bool is_shepherd(int argc, char** argv);

// Is the launcher or the cleaner, and returns the process's exit code.
int shepherd_main(int argc, char** argv);

// Makes this process a start's warden, and forks the shepherd, which runs the job. Returns the exit code of
// the process. REQUIRES: the process has one thread, all signals are blocked, kShepherdNotifyFd is open.
int supervise(const std::string& home, const RunId& id);

}  // namespace pbs::host
