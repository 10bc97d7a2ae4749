// Converts time_window objects to windows of the recurrence library.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "objects/draft.h"
#include "objects/error.h"
#include "objects/snapshot.h"
#include "rrule/window_set.h"
#include "rrule/zone.h"

namespace pbs::objects {

// Returns the window that a time_window object specifies.
rrule::WindowSpec window_spec(const Object& time_window);

// Parsed windows, cached from one check to the next: if one of a queue's three hundred windows has changed,
// only this one is parsed again. At most one is kept for each name.
//
// For one thread at a time.
class KeptWindows {
  public:
    // Returns the object's window: the cached one if it has the same specification, else a new one.
    rrule::Result<rrule::Window> of(const Object& time_window, const rrule::Zone& zone);

    // Drops names that the draft doesn't have, if the cache has grown well beyond its size after the last
    // call.
    void forget_gone(const Draft& draft);
    // Drops all windows. Call it when the zone or its rules change.
    void clear() { kept_.clear(); }
    std::size_t size() const { return kept_.size(); }

  private:
    struct Kept {
        rrule::WindowSpec spec;
        rrule::Window window;
    };
    std::map<std::string, Kept, std::less<>> kept_;
    std::size_t enough_ = 64;
};

// Returns the window that a time_window object specifies; `zone` is the server's. Errors: bad_value, if it
// has no rrule, or if its attributes make no window (the store refuses such objects).
Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone, KeptWindows& kept);
Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone);

// Returns prime time by the attributes of a policy of the Origin algorithm, for a site without a time_window
// of type prime: from prime_time_start to prime_time_end on Mondays to Fridays that are no non_work_days.
// Empty unless both attributes are set.
rrule::WindowSet weekday_prime_hours(const Object& policy, const rrule::NonWorkDays& holidays,
                                     const rrule::Zone& zone);

}  // namespace pbs::objects
