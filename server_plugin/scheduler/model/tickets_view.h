// The tickets of jobs at an instant, for display.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// A job that waits or runs, and isn't suspended.
struct TicketRow {
    std::string job;
    std::string owner;
    std::string queue;
    bool runs = false;
    double by_override = 0;
    double functional = 0;
    double share = 0;
    double normalised = 0;  // the sum of the three, brought from the range of 0 to the greatest sum to 0..1
    double sum() const { return by_override + functional + share; }
};

struct TicketsView {
    std::string sched;
    std::string policy;
    Instant now{};
    bool gives_tickets = false;  // false: the policy in force gives none, or its order of jobs ignores them
    std::vector<TicketRow>
        rows;  // by tickets, the most first; of equal ones the job that was submitted first
};

}  // namespace pbs::sched
