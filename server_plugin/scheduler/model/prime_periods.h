// The periods of prime time from an instant on, kept from cycle to cycle: what of them lies ahead changes at
// the boundaries only.
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

    // All that follows is asked of `now`. O(1) on the way to the next boundary; past it, and back in time,
    // what was known is found out again when it is asked for.
    void move_to(Instant now);

    bool now_inside() const { return inside_; }
    // The end of the period that holds now, if one does.
    std::optional<Instant> boundary() const { return inside_ ? next_change_ : std::nullopt; }
    // The most seconds of [now, now + walltime) that fall into any one period.
    Seconds most_in_one(Seconds walltime);
    // The end of the first period that holds more than `limit` seconds of [now, now + walltime); nothing if
    // none does.
    std::optional<Instant> end_of_one_above(Seconds limit, Seconds walltime);
    // The start of the first period that starts after `t`.
    std::optional<Instant> next_start(Instant t) const;

  private:
    void look_ahead(Instant until);

    rrule::WindowSet prime_;
    bool known_ = false;  // was it moved to any instant yet?
    Instant now_{};
    bool inside_ = false;
    std::optional<Instant> next_change_;  // of inside_, after now
    Instant known_until_{};
    std::vector<rrule::Interval> periods_;  // that end after now; the first may have begun before
    std::vector<Seconds> longest_;          // of periods_[0..i], whole, without the one that holds now
};

}  // namespace pbs::sched
