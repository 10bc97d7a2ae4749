// From time_window objects to windows of the recurrence library.
#ifndef PBSPOLICY_OBJECTS_WINDOWS_H
#define PBSPOLICY_OBJECTS_WINDOWS_H

#include "objects/error.h"
#include "objects/snapshot.h"
#include "rrule/window.h"
#include "rrule/zone.h"

namespace pbs::objects {

// The window that a time_window object means; `zone` is the server's. Errors: bad_value, if it has no rrule
// or (not possible for objects out of a store) its attributes make no window.
Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone);

}  // namespace pbs::objects

#endif
