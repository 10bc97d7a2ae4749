// Unions of windows, which answer the questions of schedulers: whether and when they are open.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rrule/window.h"

namespace pbs::rrule {

// A union of windows: prime time, dedicated time, the open time of a queue. Cheap to copy; empty (never
// inside) by default.
//
// Answers come from data compiled on first use and dropped with the last copy: a changed rule makes a new set
// (WindowCache keeps unchanged ones).
// - For a single window: the days on which it opens, from two weeks before the time in question to a year
//   after it, moved as time goes on. 64 bytes, and O(1) for contains() and next_change(). Not near a change
//   of the clock (opening_days.h).
// - In all other cases: a list of disjoint intervals, from ten days before the time in question to a year
//   after it, extended on demand. O(1) near the last question and where openings are spread evenly, else
//   O(log n) at most. An interval takes 9.2 bytes, or 18.3 in a list of more than 136 years: 3.7 kB for one
//   opening a day, compiled for a year.
//
// One thread at a time may ask; copies share the list. Times before 1601 and after the year 9999 are outside.
class WindowSet {
  public:
    WindowSet();
    // `holidays` are the non-work days: windows with applies_on_holidays=False leave them out, windows with
    // only_on_holidays open on them alone.
    explicit WindowSet(std::vector<Window> windows, NonWorkDays holidays = {});

    // True when the set has no windows: no time is inside.
    bool empty() const;
    const std::vector<Window>& windows() const;
    const NonWorkDays& holidays() const;

    bool contains(Instant t) const;

    // The first instant after t at which contains() changes; empty when it never does again.
    std::optional<Instant> next_change(Instant t) const;

    // The interval that holds t, else the first one that starts after t.
    std::optional<Interval> at_or_after(Instant t) const;

    // The parts of [a, b) that are inside: ascending, disjoint, not touching. None when b <= a.
    std::vector<Interval> intervals(Instant a, Instant b) const;

    // Bytes of the compiled data, shared by all copies; without the windows' rules.
    std::size_t memory() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace pbs::rrule
