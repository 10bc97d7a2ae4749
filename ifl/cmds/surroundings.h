// Collects facts about the process and the machine that a command runs in.
#pragma once

#include <string>

#include "ifl/cmds/error.h"
#include "ifl/cmds/job_env.h"
#include "ifl/cmds/job_options.h"

namespace pbs::cmds {

// The process's environment, directory and host. Errors: the working directory can't be determined.
Result<SubmitEnvironment> submit_environment();
// The values that complete the dates and paths in options, with the current time.
OptionContext option_context(const SubmitEnvironment& environment);
// PBS_HOME of the environment, else of pbs.conf, else the home of this project's package if there is one
// (/var/spool/pbspolicy), else /var/spool/pbs.
std::string server_home();

}  // namespace pbs::cmds
