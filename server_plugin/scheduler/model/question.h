// Questions that rules ask the site by way of the host.
#pragma once

#include <string>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// A program to be run or a directory to be read, for an answer that a rule of the policy in force needs.
struct Question {
    std::string source;      // the program, the element of server_dyn_res, or the directory
    std::string argument{};  // of the program: a host or SYSTEM_NAME, or the mode that running jobs need
    Seconds holds_for{0};    // the answer is valid for so long
    bool revoke = false;     // the program may take from other jobs what this one asks for
};

}  // namespace pbs::sched
