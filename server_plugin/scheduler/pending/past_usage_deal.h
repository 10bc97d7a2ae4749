// The permutation by past usage (SORT_BY_PAST_USAGE). It reorders a sorted list so that the next job is
// always one of the user with the least usage. Each job in the new order adds to its user's usage, as if it
// had run. (sched-config guide, "Increasing Fairness In Resource Usage")
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "server_plugin/scheduler/model/configuration.h"

namespace pbs::sched {

// Returns the amount that a job adds to the usage of its user: node-hours, or the flat 10 or 1.
double past_usage_charge(PastUsageCharge charge, std::int64_t nodes, Seconds walltime);

// Return a user's usage, and the charge of a job, in the unit of the permutation: whole node-seconds (a flat
// charge of 1 is 3,600). Sums of whole numbers don't depend on the order of their terms. The permutation
// picks a job at the usage of its user plus the charges of the user's earlier jobs. The results are bounded
// so that no sum overflows: charges by 2^42 (27,000 nodes for five years), usages by 2^60.
std::int64_t usage_units(double usage);
std::int64_t charge_units(PastUsageCharge charge, std::int64_t nodes, Seconds walltime);

// Chooses the user whose job comes next: the user with the least usage. Users with equal usages take turns,
// in the order of a circle of all users with jobs.
class PastUsageDeal {
  public:
    // Begins with the usage of each user with jobs, in the order of the circle. O(users).
    explicit PastUsageDeal(std::vector<std::int64_t> usage);
    bool is_over() const { return users_ == 0; }
    // Returns the index of the user whose turn it is. O(log users).
    std::size_t next();
    // Notes the charge of a job of the user that next() returned, and whether the user has more jobs.
    void dealt(std::int64_t charge, bool more);

  private:
    static constexpr std::int64_t kOut = INT64_MAX;
    void fix(std::size_t node) { least_[node] = std::min(least_[2 * node], least_[2 * node + 1]); }
    void set(std::size_t user, std::int64_t usage);

    std::vector<std::int64_t> usage_;
    // A binary tree over the users, for the user with the least usage; among equals, the first.
    std::size_t leaves_;
    std::vector<std::int64_t> least_;
    // The circle of the users with jobs left.
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> previous_;
    std::size_t candidate_ = 0;
    std::size_t users_;
};

}  // namespace pbs::sched
