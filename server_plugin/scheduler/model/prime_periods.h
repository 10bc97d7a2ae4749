// The periods of prime time from an instant on. They last from cycle to cycle, because they change only at
// boundaries.
#pragma once

#include <optional>
#include <vector>

#include "rrule/window_set.h"
#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

class PrimePeriods {
  public:
    PrimePeriods() = default;
    explicit PrimePeriods(rrule::WindowSet prime) : prime_(std::move(prime)) {}
    PrimePeriods(rrule::WindowSet prime, Instant now) : prime_(std::move(prime)) { move_to(now); }

    // Sets the instant for the functions below. O(1) until the next boundary. After it, or back in time, the
    // known periods become invalid and are computed again when needed.
    void move_to(Instant now);

    bool now_inside() const { return inside_; }
    // Returns the end of the present period; nullopt: it isn't prime time.
    std::optional<Instant> boundary() const { return inside_ ? next_change_ : std::nullopt; }
    // Returns the most seconds that [now, now + walltime) has in any single period.
    Seconds most_in_one(Seconds walltime);
    // Returns the end of the first period that contains more than `limit` seconds of [now, now + walltime);
    // nullopt: none does.
    std::optional<Instant> end_of_one_above(Seconds limit, Seconds walltime);
    // Returns the start of the first period that starts after `t`.
    std::optional<Instant> next_start(Instant t) const;

  private:
    void look_ahead(Instant until);

    rrule::WindowSet prime_;
    bool known_ = false;  // move_to() was called
    Instant now_{};
    bool inside_ = false;
    std::optional<Instant> next_change_;  // the instant at which inside_ changes next
    Instant known_until_{};
    // The periods that end after now and begin before known_until_. The first may have begun before now.
    std::vector<rrule::Interval> periods_;
    // By period: the length of the longest period up to this one; the present period counts as 0.
    std::vector<Seconds> longest_;
};

}  // namespace pbs::sched
