// The questions that rules ask the site. The host runs the programs, and hands the answers to the scheduler.
#pragma once

#include <string>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// A program to run or a directory to read, for an answer that a rule of the policy in force needs.
struct Question {
    std::string source;      // the program, the element of server_dyn_res, or the directory
    std::string argument{};  // the program's argument: a host, SYSTEM_NAME, or a mode
    Seconds holds_for{0};    // the time for which the answer is valid
    Seconds time_limit{0};   // the time limit of a program of server_dyn_res; 0: none
    bool revoke = false;     // the program may take resources from other jobs
};

}  // namespace pbs::sched
