// The tickets of the jobs of a cycle, a part of weighted_priority.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server_plugin/scheduler/framework/shares.h"
#include "server_plugin/scheduler/state/tables.h"
#include "server_plugin/scheduler/tickets/policies.h"

namespace pbs::sched {

// Maps a value between `least` and `greatest` to a number from 0 to 1. If these are equal, or nearly, it is
// 0.5.
double normalised(double value, double least, double greatest);

// Returns whether the policy gives any tickets, or jobs may have their own by the resource override_tickets.
bool gives_tickets(const Settings& settings, const Resources& resources);

class Tickets {
  public:
    // The tickets of a job by their kinds.
    struct Of {
        double by_override = 0;
        double functional = 0;
        double share = 0;
        double sum() const { return by_override + functional + share; }
    };
    // Gives tickets to the jobs of these queues that run, but aren't suspended, or that wait. `shares`: the
    // policy's share tree; null: it has none. O(n log n) for n jobs, apart from the games (tickets/game.h).
    Tickets(const Settings& settings, Tables& tables, SchedShares* shares, Instant now,
            std::span<const QueueSlot> queues);

    Of of(JobSlot job) const;
    // The job's tickets, brought from the range of 0 to greatest() to 0..1; 0.5 if no job has any.
    double normalised(JobSlot job) const;
    // The most tickets that a job has.
    double greatest() const { return greatest_; }
    // Returns a text for people, with a job's tickets of each kind and the facts from which they follow:
    // "override 0, functional 3750 (user bob: 60 over 0 running and 2 waiting jobs), share 0".
    std::string text(JobSlot job) const;

  private:
    // The number of the job's TicketJob, plus 1; 0: it has none.
    std::uint32_t entry_of(JobSlot job) const { return job < number_.size() ? number_[job] : 0; }
    std::string owners_text(std::span<const OwnerWeight> weights, JobSlot job) const;

    const Settings& settings_;
    const Tables& tables_;
    std::vector<TicketJob> jobs_;
    std::vector<Of> of_;
    std::vector<std::uint32_t> number_;  // by JobSlot: entry_of() of the job
    std::optional<ShareTickets> share_;
    double greatest_ = 0;
};

}  // namespace pbs::sched
