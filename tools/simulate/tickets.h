// Observes the tickets of a simulation's jobs over time, if its policies give tickets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/simulate/engine.h"

namespace pbs::simulate {

class TicketWatch {
  public:
    // `jobs` is the number of jobs in the trace.
    void begin(std::vector<std::string> scheds, std::size_t jobs, Instant now);
    // Adds the time since the last call to the sums of the jobs that had tickets then, and takes the present
    // tickets. O(n log n) for n jobs that wait or run, if the policy in force gives tickets.
    void look(sched::Scheduler& scheduler, Instant now);
    // Returns the sums by job; empty: no policy has given tickets.
    std::vector<TicketsOfRun> end() { return std::move(sums_); }

  private:
    struct Held {
        std::uint32_t job = 0;
        bool runs = false;
        double by_override = 0;
        double functional = 0;
        double share = 0;
    };
    std::vector<std::string> scheds_;
    std::size_t jobs_ = 0;
    Instant last_{};
    std::vector<Held> held_;  // the tickets since last_
    std::vector<TicketsOfRun> sums_;
};

}  // namespace pbs::simulate
