// The process that runs one start of a job: see runner.h for what it shares with the server, and shepherd.cc
// for what it does. It is the server's own program, run with a first argument that no user gives.
#pragma once

namespace pbs::host {

// Is this process to be a shepherd (argv[1] is "--shepherd")? main() asks before anything else.
bool is_shepherd(int argc, char** argv);

// Runs the job and returns the process's exit code.
int shepherd_main(int argc, char** argv);

}  // namespace pbs::host
