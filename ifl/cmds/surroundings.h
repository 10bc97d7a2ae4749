// What the commands need to know of the process and machine they run in.
#pragma once

#include <string>

#include "ifl/cmds/error.h"
#include "ifl/cmds/job_env.h"
#include "ifl/cmds/job_options.h"

namespace pbs::cmds {

// The process's environment, directory and host. Errors: the working directory can't be found out.
Result<SubmitEnvironment> submit_environment();
// The same as what completes options, with the current time.
OptionContext option_context(const SubmitEnvironment& environment);
// PBS_HOME of the environment, else of pbs.conf, else the usual one.
std::string server_home();

}  // namespace pbs::cmds
