// Programs that are started and waited for.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace pbs::e2e {

// PATH, LANG and TZ.
std::map<std::string, std::string> base_environment();
// The path of a program in build/bin; where there is none of this name, the name.
std::string resolve(const std::string& name);

// Starts a program with this environment beside base_environment(); `out` is its standard error, too.
pid_t spawn(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
            int in, int out);
// Of what waitpid() gives: the exit status, or 128 + the signal's number.
int exit_of(int status);

}  // namespace pbs::e2e
