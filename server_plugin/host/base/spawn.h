// Starts programs that run beside the server, without waiting for them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {

// Runs a program in a new session. The first of `arguments` is the program's own name. Its stdin is `input`,
// from a file in memory, so that this process never waits for the program to read it. Its stdout is dropped;
// its stderr goes to the descriptor `errors`, if given. Returns the pid, which the caller has to wait for, or
// -errno.
pid_t spawn(const std::string& program, std::vector<std::string> arguments, const std::string& input,
            int errors = -1);

// Makes a file without a name, in memory. On failure returns no descriptor, and sets errno.
Fd memory_file();

}  // namespace pbs::host
