// The warden of a start: the parent of its shepherd. If the shepherd is killed, the shepherd's children
// become the warden's; the warden ends them and records the end of the start, with or without a server. If
// the warden is killed, the shepherd goes on without it.
#pragma once

#include <functional>
#include <string>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Forks the shepherd, which gets the open file of the start, and stays until the shepherd has ended. Returns
// the exit code of the process (in the shepherd: the result of `shepherd`). REQUIRES: one thread, all signals
// blocked.
int keep_watch(const std::string& home, const RunId& id, const std::function<int(Fd start)>& shepherd);

// Ends the remaining processes of a start whose shepherd and warden were both killed. Returns the exit code
// of the process.
int bury(const std::string& home, const RunId& id);

}  // namespace pbs::host
