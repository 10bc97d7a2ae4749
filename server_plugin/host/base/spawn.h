// Programs that run beside the server: started, and never waited for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {

// Runs a program with these arguments (the first is its own name) in a session of its own, with `input` to
// read, which is in memory, so that nobody waits for the reader; what it writes goes nowhere, or its errors
// to the descriptor `errors`. The pid, which the caller waits for, or -errno.
pid_t spawn(const std::string& program, std::vector<std::string> arguments, const std::string& input,
            int errors = -1);

// A file without a name, in memory. No descriptor, and errno set, if there is none to be had.
Fd memory_file();

}  // namespace pbs::host
