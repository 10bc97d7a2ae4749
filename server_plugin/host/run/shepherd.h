// The process that runs one start of a job: see runner.h for what it shares with the server, and shepherd.cc
// for what it does. Its program is pbs_shepherd, a small one, as there is one of these processes for each job
// that runs, and one more, its warden. Tests are their own pbs_shepherd.
#pragma once

#include <string>

#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Is this process to be a launcher, or to clean up (shepherd_protocol.h)? main() asks before anything else.
bool is_shepherd(int argc, char** argv);

// Does that, and returns the process's exit code.
int shepherd_main(int argc, char** argv);

// Makes this process a start's warden, and a child of its the shepherd, which runs the job. The exit code of
// the process. For a process with one thread and all signals blocked; kShepherdNotifyFd is open.
int supervise(const std::string& home, const RunId& id);

}  // namespace pbs::host
