// The warden of a start is the parent of its shepherd. If the shepherd is killed, the warden becomes the
// parent of the job's processes: it ends them and records the end of the start, whether a server runs or not.
// If the warden is killed, the shepherd goes on without it.
#pragma once

#include <functional>
#include <string>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Forks the shepherd, and waits in the warden until the shepherd has ended. `shepherd` is called in the new
// process, with the open file of the start. Returns the exit code of the process: in the shepherd, the result
// of `shepherd`. REQUIRES: the process has one thread, and all signals are blocked.
int keep_watch(const std::string& home, const RunId& id, const std::function<int(Fd start)>& shepherd);

// Ends the remaining processes of a start whose shepherd and warden were both killed. Returns the exit code
// of the process.
int bury(const std::string& home, const RunId& id);

}  // namespace pbs::host
