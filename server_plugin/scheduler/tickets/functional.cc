#include "server_plugin/scheduler/tickets/game.h"
#include "server_plugin/scheduler/tickets/policies.h"

namespace pbs::sched {
namespace {

constexpr std::size_t kJob = kOwnerKinds;  // the class of shares of jobs themselves
using PerClass = std::array<double, kOwnerKinds + 1>;

class Functional {
  public:
    Functional(OwnerShares& shares, const FunctionalRules& rules) : shares_(shares), rules_(rules) {}

    // Adds a running job's shares to the sums: for each kind of owner, the part of the owner's shares that
    // falls to the job; and `own`, the job's own shares.
    void add(const OwnerShares::Owners& owners, double own) {
        for (std::size_t k = 0; k < kOwnerKinds; ++k)
            if (owners[k] != OwnerShares::kNobody) sums_[k] += part(owners[k]);
        sums_[kJob] += own;
    }
    // Divides the tickets by the weights among the classes of shares: among those with a sum above 0, or
    // (`with_sums` false) among all.
    void weigh(bool with_sums) {
        double all = 0;
        for (std::size_t k = 0; k <= kJob; ++k)
            if (!with_sums || sums_[k] > 0) all += rules_.weights[k];
        for (std::size_t k = 0; k <= kJob; ++k)
            weights_[k] = all > 0 && (!with_sums || sums_[k] > 0) ? rules_.weights[k] / all : 0;
    }
    // The tickets of a running job.
    double tickets(const OwnerShares::Owners& owners, double own) {
        double sum = 0;
        for (std::size_t k = 0; k < kOwnerKinds; ++k)
            if (owners[k] != OwnerShares::kNobody) sum += of_class(k, part(owners[k]), sums_[k]);
        return own > 0 ? sum + of_class(kJob, own, sums_[kJob]) : sum;
    }
    // The tickets that a waiting job would have if it were the next to start.
    double tickets_of_next(const OwnerShares::Owners& owners, double own) {
        constexpr double kLeast = 0.001;
        double sum = 0;
        for (std::size_t k = 0; k < kOwnerKinds; ++k) {
            if (owners[k] == OwnerShares::kNobody) continue;
            const OwnerShares::Owner& owner = shares_[owners[k]];
            sum += rules_.divide ? of_class(k, owner.shares / (owner.running + 1), sums_[k] + kLeast)
                                 : of_class(k, owner.shares, sums_[k] + kLeast + owner.shares);
        }
        return own > 0 ? sum + of_class(kJob, own, sums_[kJob] + kLeast + own) : sum;
    }
    // Counts a waiting job as one that runs, and returns its tickets. Jobs that start later have fewer
    // tickets even with equal shares, because each start adds to the sums or makes the owner's part smaller.
    // If shares are divided, only an owner's first job adds: all of the owner's jobs together have the
    // owner's shares.
    double start(const OwnerShares::Owners& owners, double own) {
        shares_.count(owners);
        for (std::size_t k = 0; k < kOwnerKinds; ++k)
            if (owners[k] != OwnerShares::kNobody && (!rules_.divide || shares_[owners[k]].running == 1))
                sums_[k] += part(owners[k]);
        sums_[kJob] += own;
        return tickets(owners, own);
    }

  private:
    double part(std::uint32_t owner) {
        const OwnerShares::Owner& one = shares_[owner];
        return rules_.divide ? one.shares / one.running : one.shares;
    }
    double of_class(std::size_t k, double part, double sum) const {
        return sum > 0 ? weights_[k] * part * rules_.tickets / sum : 0;
    }

    OwnerShares& shares_;
    const FunctionalRules& rules_;
    PerClass sums_{};
    PerClass weights_{};
};

}  // namespace

std::vector<double> functional_tickets(std::span<const TicketJob> jobs, OwnerShares shares,
                                       const FunctionalRules& rules, std::span<const double> so_far) {
    std::vector<double> tickets(jobs.size());
    Functional functional(shares, rules);
    std::vector<OwnerShares::Owners> owners;
    for (const TicketJob& job : jobs) {
        owners.push_back(shares.owners(job.names));
        if (job.runs) shares.count(owners.back());
    }
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (jobs[i].runs) functional.add(owners[i], jobs[i].job_shares);
    functional.weigh(true);
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (jobs[i].runs) tickets[i] = functional.tickets(owners[i], jobs[i].job_shares);

    TicketCategories categories;
    for (const std::uint32_t i : order_of_starts(jobs.size(), so_far))
        if (!jobs[i].runs) categories.add(i, owners[i], jobs[i].job_shares);
    functional.weigh(false);
    play(
        categories.list(), rules.most_jobs, so_far,
        [&](const TicketCategory& category) {
            return functional.tickets_of_next(category.owners, category.own);
        },
        [&](const TicketCategory& winner) { return functional.start(winner.owners, winner.own); }, tickets);
    return tickets;
}

}  // namespace pbs::sched
