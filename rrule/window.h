// A time window: the meaning of a time_window object.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/non_work_days.h"
#include "rrule/recurrence.h"

namespace pbs::rrule {

// The instants t with start <= t < end.
struct Interval {
    Instant start;
    Instant end;
    friend bool operator==(const Interval&, const Interval&) = default;
};

// The attributes of a time_window.
struct WindowSpec {
    std::string rrule;                  // text of a Recurrence: the days on which the window starts
    std::optional<Seconds> start_time;  // since midnight, below 24 h; midnight if not set
    std::optional<Seconds> end_time;    // since midnight, up to 24 h; 24:00 if not set
    bool applies_on_holidays = true;
    bool only_on_holidays = false;
    friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

// A time window with the attributes of a WindowSpec. An immutable value, cheap to copy.
//
// - The rule gives days only, in its zone (TZID of DTSTART, else the server's): the window opens once on each
//   day that has an occurrence, at start_time of that day, whatever time the occurrence has.
// - An end that is not after the start is on the next day; 00:00 to 24:00 is a whole day, 08:00 to 08:00 is
//   24 hours of wall clock.
// - Times are readings of the wall clock in the zone. A reading that comes twice means its first occurrence;
//   a skipped one means the moment of the skip (Zone::instant). So a window is as long as the clock shows, an
//   hour more or less on the day of a change, and one that lies within a skipped hour doesn't open that day.
// - With applies_on_holidays=False the window doesn't open on a non-work day, and with only_on_holidays it
//   doesn't open on any other. The day on which it starts decides: a window across midnight that starts on
//   the day before a holiday is kept whole, and one that would start on the holiday is left out whole.
class Window {
  public:
    // `zone` is the server's. Errors: those of Recurrence::parse; start_time or end_time out of range (a
    // window that starts at 24:00 has no length); only_on_holidays without applies_on_holidays.
    static Result<Window> make(const WindowSpec& spec, const Zone& zone);

    const Recurrence& recurrence() const;
    Seconds start_time() const;
    // The end, since midnight of the start day: above 24 h when the window ends on the next day.
    Seconds end_time() const;
    bool applies_on_holidays() const;
    bool only_on_holidays() const;
    bool depends_on_holidays() const { return only_on_holidays() || !applies_on_holidays(); }

    // The window's interval if it starts on this day, without asking the rule; empty (start == end) within a
    // skipped hour.
    Interval on(LocalDay day) const;

    // The days in [from, to) on which the window starts, ascending.
    std::vector<LocalDay> days(LocalDay from, LocalDay to, const NonWorkDays& holidays) const;
    // The days of a whole year on which the window starts.
    YearDays year(const Year& y, const NonWorkDays& holidays) const;
    bool opens_on(LocalDay day, const NonWorkDays& holidays) const;

    // Appends the openings whose start day is in [from, to) to `out`: ascending, disjoint, though they may
    // touch.
    void expand(LocalDay from, LocalDay to, const NonWorkDays& holidays, std::vector<Interval>& out) const;

  private:
    struct Impl;
    explicit Window(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

}  // namespace pbs::rrule
