#include <cstdint>

#include "server_plugin/scheduler/tickets/game.h"
#include "server_plugin/scheduler/tickets/policies.h"

namespace pbs::sched {

std::vector<double> override_tickets(std::span<const TicketJob> jobs, OwnerShares of_owners, bool divide,
                                     std::span<const double> so_far) {
    std::vector<double> tickets(jobs.size());
    std::vector<OwnerShares::Owners> owners;
    // Returns the tickets of one job of these owners, if `more` further jobs of theirs ran. `own`: the job's
    // own tickets.
    const auto sum = [&](const OwnerShares::Owners& all, double own, double more) {
        for (const std::uint32_t number : all) {
            if (number == OwnerShares::kNobody) continue;
            const OwnerShares::Owner& owner = of_owners[number];
            own += divide ? owner.shares / (owner.running + more) : owner.shares;
        }
        return own;
    };
    for (const TicketJob& job : jobs) {
        owners.push_back(of_owners.owners(job.names));
        if (job.runs) of_owners.count(owners.back());
    }
    TicketCategories categories;
    for (const std::uint32_t i : order_of_starts(jobs.size(), so_far)) {
        if (jobs[i].runs || !divide)
            tickets[i] = sum(owners[i], jobs[i].own_override, 0);
        else
            categories.add(i, owners[i], jobs[i].own_override);
    }
    const auto next = [&](const TicketCategory& category) { return sum(category.owners, category.own, 1); };
    // Tickets so far decide only among jobs of one category.
    play(
        categories.list(), SIZE_MAX, {}, next,
        [&](const TicketCategory& winner) {
            const double given = next(winner);
            of_owners.count(winner.owners);
            return given;
        },
        tickets);
    return tickets;
}

}  // namespace pbs::sched
