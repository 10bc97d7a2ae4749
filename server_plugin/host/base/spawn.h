// Starts programs that run beside the server, without waiting for them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {

// Runs a program with these arguments (the first is its own name) in a new session. Its stdin is `input`,
// from memory, so that nobody waits for the reader. Its output is dropped; its errors go to the descriptor
// `errors`, if given. Returns the pid, which the caller has to wait for, or -errno.
pid_t spawn(const std::string& program, std::vector<std::string> arguments, const std::string& input,
            int errors = -1);

// Makes a file without a name, in memory. On failure returns no descriptor, and sets errno.
Fd memory_file();

}  // namespace pbs::host
