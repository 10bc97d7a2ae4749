// A utilisation profile: the amount of something that is in use over time.
//
// It is the resource utilization diagram of the Grid Engine scheduler (schedd API,
// "sge_resource_utilization"), in whole amounts: debit() is its utilization_add, max_in() utilization_max,
// at_end() utilization_queue_end, and earliest() is utilization_below for the whole time of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "rrule/window.h"

namespace pbs::sched {

using rrule::Instant;
using rrule::Seconds;

// An amount that is in use from `when.start` to before `when.end`; an end of Instant::max(): for ever.
struct Use {
    rrule::Interval when;
    std::int64_t amount = 0;
};

// A step function: it is 0 before the first of n steps, and each step holds until the next one. Instants and
// amounts are in two sorted arrays, so a query is a binary search and a sweep over the steps concerned. Equal
// neighbours are one step.
//
// Amounts are sums in 64 bits. A debit that would make a sum overflow is refused and changes nothing. After a
// refused debit, every answer of the profile is at most too early, never too late.
class Timeline {
  public:
    static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

    // Adds the amount in the interval; an empty interval changes nothing. O(n): log n for the search; then
    // the steps inside and after the interval are changed. Returns false if the debit was refused.
    [[nodiscard]] bool debit(const rrule::Interval& when, std::int64_t amount);
    // Subtracts an amount again: debit() and credit() of the same amount leave the profile unchanged.
    [[nodiscard]] bool credit(const rrule::Interval& when, std::int64_t amount);
    // Adds many amounts at once, in any order: O(n + k log k) for k of them. For a profile of all running
    // jobs. Returns false if it has skipped amounts that would overflow.
    bool debit(std::span<const Use> uses);

    // Returns the amount in use at an instant. O(log n).
    std::int64_t at(Instant t) const;
    // Returns the largest amount in use at any time of the interval; 0 for an empty one. O(log n + steps in
    // the interval).
    std::int64_t max_in(const rrule::Interval& when) const;
    // Returns the amount that is in use for ever. O(1).
    std::int64_t at_end() const { return amounts_.empty() ? 0 : amounts_.back(); }

    // Returns the first instant from `from` on at which `amount` of `capacity` is free and stays free for
    // `duration` (0: is free at that instant). nullopt: there is none. O(log n + steps between `from` and the
    // end of the answer).
    std::optional<Instant> earliest(Instant from, Seconds duration, std::int64_t amount,
                                    std::int64_t capacity) const;
    // Returns the first instant from `from` on at which `amount` of `capacity` isn't free: `from` if it isn't
    // free then, Instant::max() if it always is. O(log n + steps until then).
    Instant free_until(Instant from, std::int64_t amount, std::int64_t capacity) const;

    std::size_t steps() const { return times_.size(); }
    friend bool operator==(const Timeline&, const Timeline&) = default;

  private:
    // Returns the number of the first step that begins after t; t is in the step before it.
    std::size_t after(Instant t) const;
    std::int64_t value_before(std::size_t step) const { return step == 0 ? 0 : amounts_[step - 1]; }
    Instant end_before(std::size_t step) const {
        return step < times_.size() ? times_[step] : Instant::max();
    }
    bool add(const rrule::Interval& when, std::int64_t amount);
    std::size_t cut(Instant t);
    void merge(std::size_t step);
    bool add_all(std::span<const Use> uses);

    std::vector<Instant> times_;
    std::vector<std::int64_t> amounts_;
};

// A job's need of an amount that jobs share, with the use of that amount over time.
struct Demand {
    const Timeline* used = nullptr;
    std::int64_t amount = 0;
    std::int64_t capacity = Timeline::kUnlimited;
    // The last answer of earliest_of_all(): the amount is free in this span. REQUIRES: the profile hasn't
    // changed since.
    rrule::Interval free{Instant::max(), Instant::min()};
};

// Returns the first instant from `from` on at which there is enough of everything for all of `duration`;
// nullopt: there is none. In each round at least one profile moves the result past one of its steps. O(log n
// + passed steps) for each profile in a round; O(1) for a profile whose amount is known to be free.
std::optional<Instant> earliest_of_all(std::span<Demand> demands, Instant from, Seconds duration);

}  // namespace pbs::sched
