// Starts programs and waits for them.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace pbs::e2e {

// Returns PATH, LANG and TZ.
std::map<std::string, std::string> base_environment();
// Returns a program's path in build/bin, or the name if there is none.
std::string resolve(const std::string& name);

// Starts a program with this environment added to base_environment(). `out` becomes its standard output and
// error.
pid_t spawn(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
            int in, int out);
// Converts waitpid()'s status to an exit status; 128 + the signal's number if a signal ended the process.
int exit_of(int status);

}  // namespace pbs::e2e
