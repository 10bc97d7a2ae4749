// The periods of prime time from an instant on. They are kept from cycle to cycle: the periods ahead change
// at boundaries only.
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

    // Sets the instant that all questions below are about. O(1) until the next boundary. Past it, or back in
    // time, the known periods become invalid and are computed again when they are asked for.
    void move_to(Instant now);

    bool now_inside() const { return inside_; }
    // Returns the end of the period that holds now, if one does.
    std::optional<Instant> boundary() const { return inside_ ? next_change_ : std::nullopt; }
    // Returns the most seconds of [now, now + walltime) that fall into any one period.
    Seconds most_in_one(Seconds walltime);
    // Returns the end of the first period that holds more than `limit` seconds of [now, now + walltime);
    // nothing if none does.
    std::optional<Instant> end_of_one_above(Seconds limit, Seconds walltime);
    // Returns the start of the first period that starts after `t`.
    std::optional<Instant> next_start(Instant t) const;

  private:
    void look_ahead(Instant until);

    rrule::WindowSet prime_;
    bool known_ = false;  // has move_to() been called?
    Instant now_{};
    bool inside_ = false;
    std::optional<Instant> next_change_;  // the instant at which inside_ changes next
    Instant known_until_{};
    // The periods that end after now and begin before known_until_; the first may have begun before now.
    std::vector<rrule::Interval> periods_;
    // By period: the length of the longest one up to it, where the one that holds now counts as 0.
    std::vector<Seconds> longest_;
};

}  // namespace pbs::sched
