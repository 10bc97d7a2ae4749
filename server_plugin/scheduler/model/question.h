// Questions that rules ask the site by way of the host.
#pragma once

#include <string>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// A program to be run or a directory to be read, because a rule of the policy in force goes by what it says.
struct Question {
    std::string source;      // the program, the element of server_dyn_res, or the directory
    std::string argument{};  // of the program: a host or SYSTEM_NAME, or the mode that running jobs need
    Seconds holds_for{0};    // the answer
    bool revoke = false;     // what is asked for may be taken from others
};

}  // namespace pbs::sched
