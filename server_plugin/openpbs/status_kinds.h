// The kinds of objects in status requests about policies ("object=KIND").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pbs::openpbs {

// Returns the object type of the kind in "object=KIND". Returns 0 for an unknown kind and, if `cycles` is
// false, for a kind that only the plugin's own scheduler has.
std::uint32_t status_type(std::string_view kind, bool cycles);

// Returns the error text for a kind of objects that the plugin doesn't have while pbs_sched schedules. The
// text says where to look instead.
std::string instead_of(std::string_view kind);

}  // namespace pbs::openpbs
