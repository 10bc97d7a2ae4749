// The permutation by past usage (SORT_BY_PAST_USAGE): a sorted list is dealt out again so that the user with
// the least usage is always next, usage counting as if each job ran when it is dealt.
// (sched-config guide, "Increasing Fairness In Resource Usage")
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "server_plugin/scheduler/model/configuration.h"

namespace pbs::sched {

// What a job adds to the usage of its user: node-hours, or the flat 10 or 1.
double past_usage_charge(PastUsageCharge charge, std::int64_t nodes, Seconds walltime);

// The permutation counts in whole node-seconds (a flat charge of 1 is 3,600), so that sums don't depend on
// the order in which they are made: the usage that a job is reached at is its user's, and the charges of the
// user's jobs before it. Amounts are bounded so that no sum overflows: a charge to 2^42 (27,000 nodes for
// five years), a usage to 2^60.
std::int64_t usage_units(double usage);
std::int64_t charge_units(PastUsageCharge charge, std::int64_t nodes, Seconds walltime);

// Whose turn it is, as jobs are dealt: the user with the least usage; of users with as much, the one that
// comes next in their circle.
class PastUsageDeal {
  public:
    // The usage of each user that has jobs, in the order in which they are gone through. O(users).
    explicit PastUsageDeal(std::vector<std::int64_t> usage);
    bool is_over() const { return users_ == 0; }
    // An index of the usages. O(log users).
    std::size_t next();
    // What a job of that user was charged; are there more of them?
    void dealt(std::int64_t charge, bool more);

  private:
    static constexpr std::int64_t out = INT64_MAX;
    void fix(std::size_t node) { least_[node] = std::min(least_[2 * node], least_[2 * node + 1]); }
    void set(std::size_t user, std::int64_t usage);

    std::vector<std::int64_t> usage_;
    // A tournament among users: the least usage wins, and among equals the first.
    std::size_t leaves_;
    std::vector<std::int64_t> least_;
    // The circle of users that have jobs left.
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> previous_;
    std::size_t candidate_ = 0;
    std::size_t users_;
};

}  // namespace pbs::sched
