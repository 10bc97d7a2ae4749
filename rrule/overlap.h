// Whether windows are ever open together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "rrule/window.h"

namespace pbs::rrule {

class WindowSet;

// Where two windows are first open together.
struct Overlap {
    Instant at;
    std::size_t first;   // index into the first list
    std::size_t second;  // index into the second list, or the same list
};

// The first instant at or after `from` at which both windows are open. Holidays are left aside, so that a
// later change of non_work_days can't make windows overlap that were found not to.
//
// Exact for the whole future: the days of each rule repeat after Recurrence::period_days(), so one common
// period after the last DTSTART, RDATE and EXDATE tells all of them (and after 2100, from when on tzdata has
// rules only, where windows meet in an hour that a change of the clock skips, or are in different zones). The
// bound is the year 9999, where iCalendar's dates end: it matters only for rules with an INTERVAL whose
// common period is longer than that.
std::optional<Instant> first_overlap(const Window& a, const Window& b, Instant from);

// The same for unions of windows and their complements, as exact. Holidays count as they are in the sets: the
// first instant at which both contain(). With a.complement(): the first instant of b that is not in a.
std::optional<Instant> first_overlap(const WindowSet& a, const WindowSet& b, Instant from);

// The earliest overlap of two different windows of one list (indexes first < second).
std::optional<Overlap> first_overlap(std::span<const Window> windows, Instant from);

// The earliest overlap of a window of one list with a window of the other.
std::optional<Overlap> first_overlap(std::span<const Window> a, std::span<const Window> b, Instant from);

}  // namespace pbs::rrule
