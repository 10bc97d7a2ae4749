// The three kinds of tickets, as Grid Engine's scheduler gives them. A job's tickets are their sum.
//
// Jobs are in order of their submission; a job's number is its index. The results have a number of tickets
// for each job. `so_far`: the tickets of other kinds that the jobs have already; empty: this kind doesn't
// look at them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/model/fair_shares.h"
#include "server_plugin/scheduler/tickets/owner_shares.h"

namespace pbs::sched {

struct TicketJob {
    bool runs = false;
    OwnerShares::Names names{};
    double job_shares = 0;    // the resource job_shares
    double own_override = 0;  // the resource override_tickets
    FairShares::Node leaf = FairShares::kRoot;
    double cpus = 1;  // at least 1; of a waiting job with a select_range, for the least number of chunks
};

// Functional tickets: by the shares of the owners, whatever these have used before.
struct FunctionalRules {
    double tickets = 0;
    std::array<double, kOwnerKinds + 1> weights{};  // of OwnerKinds, then of jobs themselves
    bool divide = true;                             // each job gets a part of its owner's shares, not all
    std::size_t most_jobs = 200;
};
std::vector<double> functional_tickets(std::span<const TicketJob> jobs, OwnerShares shares,
                                       const FunctionalRules& rules, std::span<const double> so_far);

// Override tickets: numbers that a manager has given to owners, or an operator to a job. Of waiting jobs that
// are alike in these numbers, those with the most tickets so far get the most.
std::vector<double> override_tickets(std::span<const TicketJob> jobs, OwnerShares tickets, bool divide,
                                     std::span<const double> so_far);

// Share tickets: by the share tree. The more an entity has used of its share, the fewer tickets it gets. Only
// nodes with jobs below them count.
struct ShareTarget {
    double part = 0;     // its part of the tickets of the active siblings: Grid Engine's stt
    double overall = 0;  // its part of all tickets: Grid Engine's ostt
    double level = 0;    // its part of the shares of the active siblings
    std::uint32_t jobs = 0;
    std::uint32_t running = 0;
};
// The targets of all nodes of the tree for the jobs that run, and with `waiting` for those that wait, too.
std::vector<ShareTarget> share_targets(std::span<const TicketJob> jobs, const FairShares& tree, Instant now,
                                       bool waiting);
struct ShareTickets {
    std::vector<double> tickets;
    // The tickets of the running jobs if waiting jobs count among the jobs of a node, too. The greatest
    // number in the two lists is the most tickets that a job has.
    std::vector<double> with_waiting;
    std::vector<ShareTarget> targets;  // for the jobs that run or wait
};
ShareTickets share_tickets(std::span<const TicketJob> jobs, const FairShares& tree, Instant now,
                           double tickets, std::span<const double> so_far);

}  // namespace pbs::sched
