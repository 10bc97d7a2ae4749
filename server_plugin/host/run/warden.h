// The warden of a start: the parent of its shepherd, and so the process that takes over the children of a
// shepherd that is killed. It ends them and records the end of the start, with or without a server. If the
// warden is killed, the shepherd goes on without one.
#pragma once

#include <functional>
#include <string>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Forks the shepherd, which is given the open file of the start, and stays until that has ended. Returns the
// exit code of the process (in the shepherd, what `shepherd` returns). REQUIRES: one thread, all signals
// blocked.
int keep_watch(const std::string& home, const RunId& id, const std::function<int(Fd start)>& shepherd);

// Ends what is left of a start whose shepherd and warden were both killed. Returns the exit code of the
// process.
int bury(const std::string& home, const RunId& id);

}  // namespace pbs::host
