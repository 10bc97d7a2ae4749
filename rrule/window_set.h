// Unions of windows and the questions that schedulers ask of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rrule/overlap.h"  // IWYU pragma: export
#include "rrule/window.h"

namespace pbs::rrule {

// A union of windows: prime time, dedicated time, the open time of a queue. A cheap value to copy; empty
// (never inside) by default.
//
// Answers come from a list of disjoint intervals (24 bytes each) that is compiled on first use, extended on
// demand and searched by bisection: O(log n) once warm. One thread at a time may ask; copies share the list.
// Times before 1601 and after the year 9999 are outside.
class WindowSet {
  public:
    WindowSet();
    // Windows that don't apply on holidays leave out `holidays`.
    explicit WindowSet(std::vector<Window> windows, NonWorkDays holidays = {});

    // True when there are no windows at all.
    bool empty() const;
    const std::vector<Window>& windows() const;

    bool contains(Instant t) const;

    // The first instant after t at which contains() changes; empty when it never does again.
    std::optional<Instant> next_change(Instant t) const;

    // The interval that holds t, else the first one that starts after t.
    std::optional<Interval> at_or_after(Instant t) const;

    // The parts of [a, b) that are inside: ascending, disjoint, not touching. None when b <= a.
    std::vector<Interval> intervals(Instant a, Instant b) const;

    // How many seconds of [a, b) are inside. 0 when b <= a.
    Seconds seconds_inside(Instant a, Instant b) const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace pbs::rrule
