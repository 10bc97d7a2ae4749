// Reads the command line of qhold and qrls, and runs them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/error.h"

namespace pbs::cmds {

// Checks the types of holds: letters u (user), o (operator), s (system) and p (bad password), or n (none)
// alone.
Result<void> check_hold_types(std::string_view types);

struct HoldRequest {
    std::string types = "u";
    std::vector<std::string> jobs;
};
// Reads the command line [-h types] job...
Result<HoldRequest> parse_hold_options(const std::vector<std::string>& arguments);

// The signature of pbs_holdjob() and pbs_rlsjob().
using HoldCall = int (*)(int connect, const char* job, const char* hold_types, const char* extend);
// Runs qhold or qrls from main() on; returns the exit status.
int run_hold_command(const Program& program, const std::vector<std::string>& arguments, HoldCall call);

}  // namespace pbs::cmds
