// Unions of windows and the questions that schedulers ask of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rrule/window.h"

namespace pbs::rrule {

// A union of windows: prime time, dedicated time, the open time of a queue. A cheap value to copy, empty
// (never inside) by default.
//
// Answers come from a list of disjoint intervals that is compiled on first use, extended on demand and
// searched by bisection; cost is O(log n) once warm. One thread at a time may ask (copies share the compiled
// list).
class WindowSet {
  public:
    WindowSet();
    // Windows that don't apply on holidays leave out `holidays`.
    explicit WindowSet(std::vector<Window> windows, NonWorkDays holidays = {});

    // True when there are no windows at all.
    bool empty() const;
    const std::vector<Window>& windows() const;

    bool contains(Instant t) const;

    // The first instant after t at which contains() changes, if there is one up to the year 9999.
    std::optional<Instant> next_change(Instant t) const;

    // The interval that holds t, else the first one that starts after it.
    std::optional<Interval> at_or_after(Instant t) const;

    // The parts of [a, b) that are inside, ascending, disjoint, not touching. Nothing when b <= a.
    std::vector<Interval> intervals(Instant a, Instant b) const;

    // How many seconds of [a, b) are inside. 0 when b <= a.
    Seconds seconds_inside(Instant a, Instant b) const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

// Where two windows of a list are first open together.
struct Overlap {
    Instant at;
    std::size_t first;   // index into the first list
    std::size_t second;  // index into the second list (or the same list)
};

// The first instant at or after `from` at which both windows are open, holidays left aside (so that a later
// change of non_work_days can't make windows overlap that were found not to).
//
// Exact for the whole future. The days of each rule repeat after Recurrence::period_days(); one common period
// after the last UNTIL, RDATE and EXDATE is looked at, at most up to the year 9999, where iCalendar's dates
// end.
std::optional<Instant> first_overlap(const Window& a, const Window& b, Instant from);

// The earliest overlap of any two different windows of one list.
std::optional<Overlap> first_overlap(std::span<const Window> windows, Instant from);

// The earliest overlap of a window of one list with a window of the other.
std::optional<Overlap> first_overlap(std::span<const Window> a, std::span<const Window> b, Instant from);

}  // namespace pbs::rrule
