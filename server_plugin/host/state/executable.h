// Makes the script of a job that was submitted without one: `qsub -- program argument...`. The client gives
// program and arguments in XML, as the job attributes executable and argument_list:
//   <jsdl-hpcpa:Executable>program</jsdl-hpcpa:Executable>
//   <jsdl-hpcpa:Argument>one</jsdl-hpcpa:Argument><jsdl-hpcpa:Argument>two</jsdl-hpcpa:Argument>
#pragma once

#include <string>

#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// Returns a script that executes the program; empty: the job has no executable.
std::string script_of_executable(const Job& job);

}  // namespace pbs::host
