// Conversion of time_window objects to windows of the recurrence library.
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

// The window that a time_window object specifies.
rrule::WindowSpec window_spec(const Object& time_window);

// Parsed windows, cached from one check to the next: of a queue's three hundred windows, only the one that
// changed is parsed again. At most one is kept for each name.
//
// One thread at a time.
class KeptWindows {
  public:
    // The object's window: the cached one if it specifies the same, else rrule::Window::make().
    rrule::Result<rrule::Window> of(const Object& time_window, const rrule::Zone& zone);

    // Drops names that a draft doesn't have, once the cache has grown well beyond its size after the last
    // call.
    void forget_gone(const Draft& draft);
    // Drops everything. Call it when the zone or its rules change.
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

// The window that a time_window object specifies; `zone` is the server's. Errors: bad_value, if it has no
// rrule or (not possible for objects out of a store) its attributes make no window.
Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone, KeptWindows& kept);
Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone);

// Prime time by the Origin policy's own attributes, where no time_window of type prime decides:
// prime_time_start to prime_time_end on Mondays to Fridays that are no non-work days. Empty unless both are
// set.
rrule::WindowSet weekday_prime_hours(const Object& policy, const rrule::NonWorkDays& holidays,
                                     const rrule::Zone& zone);

}  // namespace pbs::objects
