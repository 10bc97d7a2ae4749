// From time_window objects to windows of the recurrence library.
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

// What the attributes of a time_window object say.
rrule::WindowSpec window_spec(const Object& time_window);

// The windows that objects mean, kept from one check to the next: of a queue's three hundred windows, only
// the one that changed is parsed again. At most one is kept for each name.
//
// One thread at a time.
class KeptWindows {
  public:
    // As rrule::Window::make, of what the object says.
    rrule::Result<rrule::Window> of(const Object& time_window, const rrule::Zone& zone);

    // Forgets names that a draft doesn't have, once there are many more than the last time.
    void forget_gone(const Draft& draft);
    // For another zone, or other rules of it.
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

// The window that a time_window object means; `zone` is the server's. Errors: bad_value, if it has no rrule
// or (not possible for objects out of a store) its attributes make no window.
Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone, KeptWindows& kept);
Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone);

// Prime time as a policy of the Origin algorithm has it where no time_window of type prime says otherwise:
// prime_time_start to prime_time_end on Mondays to Fridays that are no non-work days. Empty unless both are
// set.
rrule::WindowSet weekday_prime_hours(const Object& policy, const rrule::NonWorkDays& holidays,
                                     const rrule::Zone& zone);

}  // namespace pbs::objects
