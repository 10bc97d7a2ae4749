// The warden of a start: the parent of its shepherd, and nearest to it to take over the processes that a
// killed shepherd leaves. It ends them and writes the end of the start down, whether there is a server or
// not. If the warden is killed, the shepherd goes on without one.
#pragma once

#include <functional>
#include <string>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Forks the shepherd, which is given the open file of the start, and stays until that has ended. The exit
// code of the process (in the shepherd, what `shepherd` returns). For a process with one thread and all
// signals blocked.
int keep_watch(const std::string& home, const RunId& id, const std::function<int(Fd start)>& shepherd);

// Ends what is left of a start whose shepherd and warden were both killed. The exit code of the process.
int bury(const std::string& home, const RunId& id);

}  // namespace pbs::host
