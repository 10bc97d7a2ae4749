// Starts programs and waits for them.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace pbs::e2e {

// Returns the variables that each program gets: PATH, LANG and TZ.
std::map<std::string, std::string> base_environment();
// Returns the path of a program in build/bin, or `name` if there is no such program.
std::string resolve(const std::string& name);

// Starts a program with `environment` added to base_environment(). `in` becomes its standard input, `out` its
// standard output and error. Returns the process id.
pid_t spawn(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
            int in, int out);
// Returns the exit status for waitpid()'s status; 128 + the signal's number if a signal ended the process.
int exit_of(int status);

}  // namespace pbs::e2e
